import { placeOf } from "./address.ts";

/** Why an address could not be listened on, as one sentence, and the flag that mends it. */
export interface ListenError {
  readonly says: string;
  readonly fix: string;
}

interface Row {
  readonly why: string;
  readonly fix: (port: number) => string;
}

const LOOPBACK: Row["fix"] = () => "--host 127.0.0.1";

/** By the system's code. One row for each that a wrong setting leads to. */
const ROWS: Readonly<Record<string, Row>> = {
  EADDRINUSE: { why: "the port is in use, perhaps by another lastword", fix: () => "--port 0" },
  EACCES: {
    why: "this user may not use that port",
    // Ports below 1024 are for root on most systems.
    fix: (port) => (port < 1024 ? "--port 4747" : "--port 0"),
  },
  EADDRNOTAVAIL: { why: "this machine does not have that address", fix: LOOPBACK },
  ENOTFOUND: { why: "nobody knows a host of that name", fix: LOOPBACK },
  EAI_AGAIN: { why: "the name could not be looked up", fix: LOOPBACK },
  EAFNOSUPPORT: { why: "this machine does not speak that kind of address", fix: LOOPBACK },
};

/** @param error what `listen` has thrown */
export function listenError(error: unknown, host: string, port: number): ListenError {
  const code = (error as { readonly code?: string } | null)?.code ?? "unknown error";
  const row = ROWS[code] ?? { why: "the system refuses it", fix: LOOPBACK };
  return { says: `lastword cannot listen on ${placeOf(host, port)}: ${row.why} (${code}).`, fix: row.fix(port) };
}

/** An address of whoever reaches this port could spend an upstream's key. */
export function exposedError(host: string, address: string, port: number): ListenError {
  return {
    says: `lastword does not listen on ${placeOf(host, port)}: the name leads to ${address}, which other machines may reach, an upstream key is set, and clients need none.`,
    fix: "--host 127.0.0.1",
  };
}
