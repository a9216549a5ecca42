import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { type Finding, type FindingCode, finding } from "../check/finding.ts";
import type { ListenReport } from "../check/report.ts";
import { exposesKey } from "../config/exposure.ts";
import type { Loaded } from "../config/load.ts";
import { asObject, asString } from "../core/json.ts";
import { callableUrl, placeOf } from "./address.ts";
import { exposedError, type ListenError, listenError } from "./listen-error.ts";

/** Ports behind the wanted one that are tried for another. */
const NEIGHBOURS = 20;
const ASK_MS = 2_000;

/** Listens for a moment where the proxy would, and lets go again. */
export async function checkListen({
  config,
  sourceOf,
}: Loaded): Promise<{ readonly report: ListenReport; readonly findings: readonly Finding[] }> {
  const { host, port, keys } = config.listen;
  const url = `http://${placeOf(host, port)}`;
  const refused = (code: FindingCode, { says, fix }: ListenError) => ({
    report: { url, state: "refused" as const },
    findings: [finding(code, url, says, sourceOf(["listen", "port"]) === "file" ? yaml(fix) : fix)],
  });
  try {
    const address = await bind(host, port);
    if (exposesKey(config, address)) return refused("address_exposed", exposedError(host, address, port));
    return { report: { url, state: "free" }, findings: [] };
  } catch (error) {
    const why = listenError(error, host, port);
    if ((error as { code?: string }).code !== "EADDRINUSE") return refused("address_refused", why);
    if (await isLastword(callableUrl(host, port), keys[0])) return { report: { url, state: "lastword" }, findings: [] };
    const says = `Another program has port ${port} on ${host}.`;
    return refused("port_taken", { says, fix: `--port ${await freePort(host, port)}` });
  }
}

/** @returns the address that was bound. @throws the listen error */
async function bind(host: string, port: number): Promise<string> {
  const server = createServer();
  server.listen({ host, port, exclusive: true });
  await once(server, "listening");
  const { address } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return address;
}

async function freePort(host: string, taken: number): Promise<number> {
  for (let port = taken + 1; port <= Math.min(taken + NEIGHBOURS, 65_535); port++) {
    const free = await bind(host, port).then(
      () => true,
      () => false,
    );
    if (free) return port;
  }
  return 0;
}

/** Whether what answers there is a lastword, with or without a key of its own. */
async function isLastword(url: string, key: string | undefined): Promise<boolean> {
  try {
    const response = await fetch(`${url}/status`, {
      headers: key === undefined ? {} : { "x-api-key": key },
      redirect: "manual",
      signal: AbortSignal.timeout(ASK_MS),
    });
    const answer = asObject(await response.json());
    const refusal = asString(asObject(answer?.error)?.message) ?? "";
    return (
      (typeof answer?.version === "string" && Array.isArray(answer.tallies)) ||
      refusal.startsWith("This proxy needs a key")
    );
  } catch {
    return false;
  }
}

/** `--port 4748` as a line of the config file. */
function yaml(flag: string): string {
  return flag.replace(/^--(\w+) /, "$1: ");
}
