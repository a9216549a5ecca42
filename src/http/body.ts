import type { IncomingMessage } from "node:http";
import { Bytes } from "../core/bytes.ts";
import { failure, Refused } from "../core/error.ts";

/**
 * A request's whole body.
 * @throws Refused `request_too_large` as soon as the limit is passed, without keeping more; Error if the client leaves
 */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const declared = Number(request.headers["content-length"]);
  if (declared > maxBytes) return Promise.reject(tooLarge(declared, maxBytes));
  return new Promise((resolve, reject) => {
    const body = new Bytes(declared);
    const read = (chunk: Buffer) => {
      body.add(chunk);
      if (body.size <= maxBytes) return;
      // Whoever answers lets the rest go by.
      request.off("data", read);
      reject(tooLarge(body.take().length, maxBytes));
    };
    request.on("data", read);
    request.on("end", () => resolve(body.take()));
    request.on("error", reject);
    request.on("close", () => {
      if (!request.complete) reject(new Error("client left"));
    });
  });
}

function tooLarge(bytes: number, maxBytes: number): Refused {
  return new Refused(
    failure("request_too_large", `The request body is larger than ${maxBytes} bytes (limits.maxBodyBytes).`, {
      max_body_bytes: maxBytes,
      body_bytes: bytes,
    }),
  );
}
