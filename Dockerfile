# PostgreSQL's image with the extension in it:
#
#   docker build -t bloomfilter .                # or --build-arg BASE=postgres:15 to postgres:19
#   docker run --name filters -e POSTGRES_PASSWORD=secret -d bloomfilter
#   docker exec -it filters psql -U postgres     # and there CREATE EXTENSION bloomfilter;
#
# Or an image of the extension's files alone. A server of version 18 or later can mount that image
# (doc/production.md):
#
#   docker build --target files --build-arg BASE=postgres:18 -t bloomfilter-files .
#
# BASE names a Debian variant of the official image, by name or by digest, or an image made from
# such a variant.
ARG BASE=postgres:17

# The extension is built with the headers of the minor release that the image has. A build with the
# headers of a later minor release may not load in the image's server. apt has only the newest minor
# releases.
FROM $BASE AS build
RUN apt-get update && \
    server=$(dpkg-query -W -f '${Version}' "postgresql-$PG_MAJOR") && \
    { apt-get install -y --no-install-recommends \
        build-essential libxxhash-dev "postgresql-server-dev-$PG_MAJOR=$server" || \
      { echo "The image has PostgreSQL $server. If apt no longer has the headers of that release," \
          "fetch a newer image: docker build --pull" >&2; exit 1; }; }
COPY . /src
RUN make -C /src -j "$(nproc)" PG_CONFIG="/usr/lib/postgresql/$PG_MAJOR/bin/pg_config" && \
    make -C /src PG_CONFIG="/usr/lib/postgresql/$PG_MAJOR/bin/pg_config" DESTDIR=/out install

# CloudNativePG mounts such images and looks for files in these directories. Bitcode for JIT is left
# out, because a server reads bitcode only from its own directories.
FROM scratch AS files
COPY --from=build /out/usr/lib/postgresql/*/lib/bloomfilter*.so /lib/
COPY --from=build /out/usr/share/postgresql/*/extension/* /share/extension/

# The default target: BASE and the extension's files, nothing else.
FROM $BASE
COPY --from=build /out /
