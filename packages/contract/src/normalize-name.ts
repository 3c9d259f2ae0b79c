// The one way in which a leaderboard's name is brought into the form it is stored and looked up in.

/** Lower case, runs of white space as one underscore, and nothing outside `a-z 0-9 _ -`. May return "". */
export function normalizeName(name: string): string {
  return name
    .toLowerCase()
    .replace(/\s+/gu, "_")
    .replace(/[^a-z0-9_-]/gu, "");
}
