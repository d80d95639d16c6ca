# The base by tag and digest, so that a build tomorrow begins where today's did. The digest is the index of all architectures of 22.23.3;
# renew it, and the comment, with:  docker buildx imagetools inspect node:22-bookworm-slim
# A mirror of yours:  docker build --build-arg NODE_IMAGE=registry.example.com/node:22-bookworm-slim .
ARG NODE_IMAGE=docker.io/library/node:22-bookworm-slim@sha256:43ac6c60b8f89723f746e8a92ce91abd5017e627ce1ddfe4238355d3a30b772c

# What runs: dependencies without the development ones. A stage of its own, so that a change of the sources keeps it.
FROM ${NODE_IMAGE} AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY nest-cli.json tsconfig.json tsconfig.build.json ./
COPY scripts/build.mjs scripts/source-hash.mjs scripts/
COPY src src
RUN npm run build

FROM ${NODE_IMAGE} AS runtime
WORKDIR /app
# Owned by root and not writable by who runs it, who needs to write nothing: a read-only root works.
COPY --from=dependencies /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY package.json coordinator.yaml LICENSE ./
COPY scripts/image-health.mjs scripts/

# HOST: a container is reached from outside, which needs a caller key (CALLER_KEYS).
# DRAIN_DELAY_MS: load balancers take some seconds to notice that /ready says 503.
# NODE_OPTIONS: two thirds of the 1 GiB that k8s/ and compose.yaml allow; buffers, code and the thread that counts tokens need the rest.
# HOME: the user below has none.
ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    PORT=8080 \
    DRAIN_DELAY_MS=5000 \
    NODE_OPTIONS=--max-old-space-size=672 \
    HOME=/tmp
# By number: Kubernetes' runAsNonRoot cannot judge a name.
USER 10001:10001
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 CMD ["node", "scripts/image-health.mjs"]
# Node itself, not npm and no shell in front of it: SIGTERM reaches it, and it drains.
CMD ["node", "--enable-source-maps", "dist/main.js"]
