// A bare socket to the service, for what a well-behaved client cannot send.
import { connect, type Socket } from "node:net";
import type { TestService } from "../support/test-service.ts";

export interface RawConnection {
  readonly socket: Socket;
  write(text: string): void;
  /** All that has come so far. */
  received(): string;
  /** Resolves when the service has closed the connection. */
  readonly closed: Promise<void>;
}

export async function openRaw(service: TestService): Promise<RawConnection> {
  const { hostname, port } = new URL(service.url);
  const socket = connect(Number(port), hostname);
  let text = "";
  socket.on("data", (chunk) => {
    text += chunk.toString();
  });
  socket.on("error", () => undefined);
  const closed = new Promise<void>((resolve) => {
    socket.on("close", () => resolve());
  });
  await new Promise((resolve) => {
    socket.once("connect", resolve);
  });
  return { socket, write: (part) => void socket.write(part), received: () => text, closed };
}

export interface RawAnswer {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

export function parseRaw(text: string): RawAnswer {
  const [head = "", body = ""] = text.split("\r\n\r\n", 2);
  return { status: Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1]), head, body };
}
