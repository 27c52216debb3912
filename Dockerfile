# PostgreSQL's image with the extension in it:
#
#   docker build -t bloomfilter .                # or --build-arg BASE=postgres:15 to postgres:19
#   docker run --name filters -e POSTGRES_PASSWORD=secret -d bloomfilter
#   docker exec -it filters psql -U postgres     # and there CREATE EXTENSION bloomfilter;
#
# Or the extension's files alone, as an image that is mounted beside a server of version 18 or later
# (doc/production.md):
#
#   docker build --target files --build-arg BASE=postgres:18 -t bloomfilter-files .
#
# BASE is any Debian variant of the official image, by its name or its digest, or an image made from
# one.
ARG BASE=postgres:17

# The extension is built with the headers of the same minor release that the image has, because a
# build with the headers of a later one may not load in it. apt has only the newest releases.
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

# The directories are those in which CloudNativePG looks, which mounts such images. Bitcode for JIT is
# left out, because a server reads it only from its own directories.
FROM scratch AS files
COPY --from=build /out/usr/lib/postgresql/*/lib/bloomfilter.so /lib/
COPY --from=build /out/usr/share/postgresql/*/extension/* /share/extension/

# What is built if no target is named: BASE with nothing but the extension's files added.
FROM $BASE
COPY --from=build /out /
