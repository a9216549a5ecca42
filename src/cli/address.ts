/** `127.0.0.1:4747`, `[::1]:4747` */
export function placeOf(host: string, port: number | string): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** Where a proxy that is bound to this address can be called from this machine: an address to bind need not be one to call. */
export function callableUrl(host: string, port: number | string): string {
  const name = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  return `http://${placeOf(name, port)}`;
}
