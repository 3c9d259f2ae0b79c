// Under whom the PostgreSQL programs run: PostgreSQL refuses to run as root.

import { type Command, runCommand } from "./run-command.ts";
import type { Account } from "./system-accounts.ts";

export interface RunAs {
  /** The account that must own the files; undefined when that is whoever runs Coinslot. */
  readonly account?: Account;
  command(file: string, args: readonly string[]): Command;
}

export const runDirectly: RunAs = { command: (file, args) => ({ file, args }) };

/** Root seen as another user in a user namespace: files stay root's, and folders that only root can enter stay open. */
export function runInNamespace(account: Account): RunAs {
  const map = ["--user", `--map-user=${account.uid}`, `--map-group=${account.gid}`, "--"];
  return { command: (file, args) => ({ file: "unshare", args: [...map, file, ...args] }) };
}

export function runAsAccount(account: Account): RunAs {
  return { account, command: (file, args) => ({ file, args, uid: account.uid, gid: account.gid }) };
}

/** Found by trying: kernels, containers and old versions of unshare each refuse in a way of their own. */
export async function namespacesWork(runAs: RunAs): Promise<boolean> {
  const { code } = await runCommand(runAs.command("/bin/sh", ["-c", "exit 0"]));
  return code === 0;
}

export async function canEnter(runAs: RunAs, folder: string): Promise<boolean> {
  const { code } = await runCommand(runAs.command("/bin/sh", ["-c", 'cd -- "$1"', "sh", folder]));
  return code === 0;
}
