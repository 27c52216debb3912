"""The errors of this package. All are a FilterError, which is a ValueError."""


class FilterError(ValueError):
    """The filter or the value cannot be used."""


class DamagedError(FilterError):
    """The bytes are no filter, or a damaged one: the server refuses them, too."""


class UnsupportedError(FilterError):
    """The server can answer this, but this package cannot."""


class ElementTypeError(FilterError, TypeError):
    """The filter holds values of another type, or this package knows no values of the type."""
