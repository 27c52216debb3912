# PostgreSQL's image with the extension in it:
#
#   docker build -t bloomfilter .                          # or --build-arg PG_MAJOR=14 to 18
#   docker run --rm --name filters -e POSTGRES_PASSWORD=secret -d bloomfilter
#   docker exec -it filters psql -U postgres -c 'CREATE EXTENSION bloomfilter' -c 'SELECT bf_describe(bf_agg(1))'
ARG PG_MAJOR=17
FROM postgres:$PG_MAJOR
ARG PG_MAJOR

# The server is upgraded with its headers where the image is of an older minor release: a library that
# was built for a newer one may not load. (locales, upgraded, would forget the image's locale.)
RUN --mount=type=bind,target=/src \
    apt-mark hold locales && \
    apt-get update && \
    apt-get install -y --no-install-recommends build-essential libxxhash-dev \
        "postgresql-$PG_MAJOR" "postgresql-server-dev-$PG_MAJOR" && \
    mkdir /tmp/build && \
    cd /tmp/build && \
    PG_CONFIG=/usr/lib/postgresql/$PG_MAJOR/bin/pg_config && \
    make -j "$(nproc)" -f /src/Makefile VPATH=/src PG_CONFIG="$PG_CONFIG" && \
    make -f /src/Makefile VPATH=/src PG_CONFIG="$PG_CONFIG" install && \
    cd / && \
    rm -r /tmp/build && \
    apt-get purge -y build-essential libxxhash-dev "postgresql-server-dev-$PG_MAJOR" && \
    apt-get autoremove -y && \
    apt-mark unhold locales && \
    rm -rf /var/lib/apt/lists/*
