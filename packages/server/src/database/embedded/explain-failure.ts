// Turns an error of the file system into one line that says what to do about the data folder.
import { StartupError } from "../../startup-error.ts";
import { errorCode } from "./files.ts";

const REASONS: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "permission denied",
  EROFS: "the file system is read-only",
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
  ENOTDIR: "a part of the path is not a folder",
  EEXIST: "it is not a folder",
  ELOOP: "a symbolic link is in the way",
  ENAMETOOLONG: "the path is too long",
};

export function explainFailure(error: unknown, dataDir: string): unknown {
  const reason = REASONS[errorCode(error) ?? ""];
  if (reason === undefined || !(error instanceof Error)) return error;
  const path = "path" in error && typeof error.path === "string" ? ` (${error.path})` : "";
  return new StartupError(`The data folder ${dataDir} cannot be used: ${reason}${path}.`, { cause: error });
}
