# lastword as an image: its bundle and Node.js, nothing else.
#   docker build -t lastword .
#   docker run --rm --read-only -p 127.0.0.1:4747:4747 -e LASTWORD_UPSTREAM=http://host.docker.internal:1234/v1 lastword
# On Linux add --add-host=host.docker.internal:host-gateway.

FROM node:22-slim AS build
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY tsconfig.json ./
COPY src ./src
RUN npm run build

FROM node:22-slim
WORKDIR /app
COPY --from=build /src/package.json ./
COPY --from=build /src/dist ./dist
# Within a container loopback would reach nobody. Publish the port to 127.0.0.1 alone, or set listen.keys.
ENV NODE_ENV=production LASTWORD_HOST=0.0.0.0
EXPOSE 4747
# Owns no file and writes none: run it with --read-only.
USER 65534:65534
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.LASTWORD_PORT ?? 4747}/healthz`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "/app/dist/main.js"]
CMD ["serve"]
