// Picks the line that tells a person what went wrong out of what PostgreSQL wrote.

/** What a person can do something about; what follows in the log is a consequence of it. */
const CAUSE = /Disk quota exceeded|Permission denied|Read-only file system/;
/** Some calls write a part and say only how much; the hint is common to all. */
const DISK_FULL = /No space left on device|Check free disk space/;
const COMPLAINT = /\b(PANIC|FATAL|error|could not|cannot|denied)\b/i;

export function lastComplaint(output: string): string {
  if (DISK_FULL.test(output)) return "the disk is full.";
  const lines = output.split("\n").filter((line) => line.trim() !== "");
  const line =
    lines.findLast((text) => CAUSE.test(text)) ??
    lines.findLast((text) => COMPLAINT.test(text)) ??
    lines.at(-1) ??
    "it gave no reason";
  return line
    .replace(/^.*?\b(PANIC|FATAL|ERROR|error):\s+/, "")
    .trim()
    .slice(0, 500);
}
