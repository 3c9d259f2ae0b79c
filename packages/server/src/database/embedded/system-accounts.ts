// The accounts of this machine under which a server may run when Coinslot itself runs as root.
import { readIfThere } from "./files.ts";

export interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

const PREFERRED = ["postgres", "_postgres", "nobody"];

export async function unprivilegedAccount(passwdFile = "/etc/passwd"): Promise<Account | undefined> {
  const accounts = parsePasswd((await readIfThere(passwdFile)) ?? "");
  for (const name of PREFERRED) {
    const found = accounts.find((account) => account.name === name);
    if (found) return found;
  }
  return undefined;
}

function parsePasswd(text: string): Account[] {
  return text
    .split("\n")
    .map((line) => line.split(":"))
    .map(([name = "", , uid = "", gid = ""]) => ({ name, uid: Number(uid || "0"), gid: Number(gid || "0") }))
    .filter((account) => Number.isInteger(account.uid) && account.uid !== 0);
}
