import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { DCLinter } from "dclint";
import { validate as lintDockerfile } from "dockerfile-utils";
import { Deployment } from "kubernetes-models/apps/v1/Deployment";
import { ConfigMap } from "kubernetes-models/v1/ConfigMap";
import { PersistentVolumeClaim } from "kubernetes-models/v1/PersistentVolumeClaim";
import { Service } from "kubernetes-models/v1/Service";
import { describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { loadConfig } from "../../src/config/load.ts";
import { has, ROOT, run } from "./tools.ts";

const read = (path: string) => readFile(join(ROOT, path), "utf8");

describe("the Dockerfile", () => {
  test("a linter finds nothing", async () => {
    const problems = lintDockerfile(await read("Dockerfile"));
    expect(problems.map(({ message, range }) => `${range.start.line + 1}: ${message}`)).toEqual([]);
  });

  test.skipIf(!has("dockerd", "no Docker engine runs here; build it where one does: docker build -t lastword ."))(
    "builds into an image",
    async () => {
      expect(await run("docker", ["build", "--quiet", "--tag", "lastword:test", "."])).toMatchObject({ code: 0 });
    },
    600_000,
  );
});

describe("compose", () => {
  test("a linter finds nothing", async () => {
    // `name` is not known to the docker-compose that Debian has.
    const linter = new DCLinter({
      rules: { "require-project-name-field": 0, "require-quotes-in-ports": [2, { quoteType: "double" }] },
      quiet: false,
      debug: false,
      exclude: [],
    });
    const results = linter.lintFiles([join(ROOT, "config/compose.yaml")], false);
    expect(results.flatMap(({ messages }) => messages.map(({ line, message }) => `${line}: ${message}`))).toEqual([]);
    expect(results).toHaveLength(1);
  });

  test.skipIf(!has("docker-compose", "apt-get install docker-compose"))("docker-compose reads it", async () => {
    expect(await run("docker-compose", ["-f", "config/compose.yaml", "config", "--quiet"])).toMatchObject({ code: 0 });
  });

  test("lastword is published to this machine alone, writes nothing and has no rights to lose", async () => {
    const { lastword, model } = parse(await read("config/compose.yaml")).services;
    expect(lastword).toMatchObject({ read_only: true, cap_drop: ["ALL"], security_opt: ["no-new-privileges:true"] });
    for (const port of lastword.ports) expect(port).toMatch(/^127\.0\.0\.1:/);
    expect(model.ports).toBeUndefined();
  });
});

const KINDS = { ConfigMap, Service, Deployment, PersistentVolumeClaim } as const;

async function manifests(): Promise<{ kind: keyof typeof KINDS; metadata: { name: string } }[]> {
  return parseAllDocuments(await read("config/kubernetes.yaml")).map((document) => document.toJS());
}

async function sidecar() {
  const deployment = (await manifests()).find(({ kind }) => kind === "Deployment");
  const { spec } = new Deployment(deployment as unknown as ConstructorParameters<typeof Deployment>[0]);
  const pod = spec?.template.spec;
  const lastword = pod?.containers.find(({ name }) => name === "lastword");
  if (spec === undefined || pod === undefined || lastword === undefined) throw new Error("no container named lastword");
  return { spec, pod, lastword };
}

describe("kubernetes", () => {
  test("every object is what its schema says", async () => {
    for (const manifest of await manifests()) {
      const object = new KINDS[manifest.kind](manifest as never);
      expect(() => object.validate(), `${manifest.kind} ${manifest.metadata.name}`).not.toThrow();
    }
  });

  test("the schemas would find a mistake", async () => {
    const [config] = await manifests();
    expect(() => new ConfigMap({ ...config, data: { a: 1 } } as never).validate()).toThrow();
  });

  test("probes, limits and rights of the sidecar", async () => {
    const { spec, pod, lastword } = await sidecar();
    expect(lastword.livenessProbe?.httpGet?.path).toBe("/healthz");
    expect(lastword.readinessProbe?.httpGet?.path).toBe("/readyz");
    expect(Object.keys(lastword.resources?.limits ?? {}).toSorted()).toEqual(["cpu", "memory"]);
    expect(lastword.securityContext).toMatchObject({
      runAsNonRoot: true,
      readOnlyRootFilesystem: true,
      allowPrivilegeEscalation: false,
      capabilities: { drop: ["ALL"] },
    });
    expect(spec.selector.matchLabels).toEqual(spec.template.metadata?.labels);
    const volumes = new Set(pod.volumes?.map(({ name }) => name));
    for (const { volumeMounts = [] } of pod.containers)
      for (const { name } of volumeMounts) expect([...volumes]).toContain(name);
  });

  test("its config is one that lastword takes, behind a key, and gives replies time to end", async () => {
    const { pod } = await sidecar();
    const map = (await manifests()).find(({ kind }) => kind === "ConfigMap") as unknown as {
      data: Record<string, string>;
    };
    const loaded = loadConfig({ flags: {}, env: { LASTWORD_KEY: "T-one" }, file: map.data["lastword.yaml"] ?? "" });
    expect(loaded).not.toHaveProperty("problems");
    if ("problems" in loaded) return;
    expect(loaded.config.listen).toMatchObject({ host: "0.0.0.0", keys: ["T-one"] });
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(loaded.config.limits.drainSeconds);
  });
});

describe.skipIf(!has("systemd-analyze", "apt-get install systemd"))("the systemd unit", () => {
  test("systemd reads it without a complaint", async () => {
    // Only its program is not installed on this machine.
    const { text } = await run("systemd-analyze", ["verify", "config/lastword.service"]);
    expect(text.split("\n").filter((line) => line !== "" && !line.includes("is not executable"))).toEqual([]);
  });

  test("is open to little", async () => {
    const args = ["security", "--offline=yes", "--threshold=20", "config/lastword.service"];
    expect(await run("systemd-analyze", args)).toMatchObject({ code: 0 });
  });
});
