# PostgreSQL's image with the extension in it:
#
#   docker build -t bloomfilter .                          # --build-arg PG_MAJOR=14 to 18
#   docker run --name filters -e POSTGRES_PASSWORD=secret -d bloomfilter
#   docker exec -it filters psql -U postgres               # and there CREATE EXTENSION bloomfilter;
ARG PG_MAJOR=17
FROM postgres:$PG_MAJOR AS build
ARG PG_MAJOR
RUN --mount=type=bind,target=/src \
    apt-get update && \
    apt-get install -y --no-install-recommends \
        build-essential libxxhash-dev "postgresql-server-dev-$PG_MAJOR" && \
    mkdir /tmp/build && \
    cd /tmp/build && \
    PG_CONFIG=/usr/lib/postgresql/$PG_MAJOR/bin/pg_config && \
    make -j "$(nproc)" -f /src/Makefile VPATH=/src "PG_CONFIG=$PG_CONFIG" && \
    make -f /src/Makefile VPATH=/src "PG_CONFIG=$PG_CONFIG" DESTDIR=/out install

# An image may have an older minor release than the headers of today, in which what was built with
# them may not load: its server is upgraded then. (locales, upgraded, would forget the image's locale.)
FROM postgres:$PG_MAJOR
ARG PG_MAJOR
RUN apt-mark hold locales && \
    apt-get update && \
    apt-get install -y --no-install-recommends "postgresql-$PG_MAJOR" && \
    apt-mark unhold locales && \
    rm -rf /var/lib/apt/lists/*
COPY --from=build /out /
