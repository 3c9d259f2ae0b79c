// Keeps connections that are idle for the next request to their origin: few, not for long, the freshest first.
import type { Connection } from "./connection.ts";
import { connectionMaxAgeMs, idleMaxCount, idleMaxMs, originIdleMaxCount } from "./sending-limits.ts";

export interface ConnectionPool {
  /** Null when a new connection is needed. */
  take(origin: string): Connection | null;
  give(connection: Connection): void;
  readonly idleCount: number;
  clear(): void;
}

export function createConnectionPool(nowMs: () => number): ConnectionPool {
  /** The one idle for longest comes first. */
  const idle = new Set<Connection>();
  const byOrigin = new Map<string, Connection[]>();

  const isUsable = ({ socket, openedAtMs, idleSinceMs }: Connection): boolean =>
    !socket.destroyed && nowMs() - openedAtMs < connectionMaxAgeMs && nowMs() - idleSinceMs < idleMaxMs;

  const forget = (connection: Connection): void => {
    if (!idle.delete(connection)) return;
    const siblings = (byOrigin.get(connection.origin) ?? []).filter((other) => other !== connection);
    if (siblings.length === 0) byOrigin.delete(connection.origin);
    else byOrigin.set(connection.origin, siblings);
  };

  const drop = (connection: Connection): void => {
    forget(connection);
    connection.socket.destroy();
  };

  return {
    take(origin) {
      const siblings = byOrigin.get(origin);
      for (let connection = siblings?.pop(); connection !== undefined; connection = siblings?.pop()) {
        idle.delete(connection);
        if (siblings?.length === 0) byOrigin.delete(origin);
        if (isUsable(connection)) return connection;
        connection.socket.destroy();
      }
      return null;
    },
    give(connection) {
      connection.idleSinceMs = nowMs();
      const siblings = byOrigin.get(connection.origin) ?? [];
      if (!isUsable(connection) || siblings.length >= originIdleMaxCount) return drop(connection);
      siblings.push(connection);
      byOrigin.set(connection.origin, siblings);
      idle.add(connection);
      if (connection.requestCount === 1) connection.socket.once("close", () => forget(connection));
      const [oldest] = idle;
      if (idle.size > idleMaxCount && oldest !== undefined) drop(oldest);
    },
    get idleCount() {
      return idle.size;
    },
    clear() {
      for (const connection of [...idle]) drop(connection);
    },
  };
}
