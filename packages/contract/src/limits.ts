// Every limit of the service, named, with its unit last, and checked when the module loads.

/** The contract's own limits: receivers and games rely on these values. */
export const displayNameMaxChars = 200;
export const webhookAckTimeoutMs = 10_000;
export const webhookRetryCount = 8;
export const webhookRetrySpanMs = 3 * 24 * 60 * 60 * 1000;

/** Sizes of what callers send. */
export const bodyMaxBytes = 64 * 1024;
export const pathParamMaxChars = 1_024;
export const receiptMaxChars = 8 * 1024;
export const gameIdMaxChars = 64;
export const gameTitleMaxChars = 200;
export const leaderboardNameMaxChars = 100;
export const userIdMaxChars = 128;
export const contentIdentifierMaxChars = 128;
export const contentTitleMaxChars = 200;
export const contentFilesMaxCount = 50;
export const contentFileMaxChars = 200;
export const contentsPerGameMaxCount = 1_000;
export const priceMaxMinorUnits = 1_000_000_00;
export const tokenLabelMaxChars = 100;
export const refundReasonMaxChars = 500;
export const webhookUrlMaxChars = 2_048;
export const idempotencyKeyMaxChars = 255;
export const idempotencyKeyKeepMs = 24 * 60 * 60 * 1000;

/** Sizes of what callers read. */
export const pageDefaultCount = 50;
export const pageMaxCount = 200;
export const leaderboardsPerGameMaxCount = 1_000;
export const tokensPerGameMaxCount = 200;
export const timelineMaxCount = 200;
export const eventStreamsMaxCount = 500;
export const eventStreamsPerCallerMaxCount = 20;

/** Lifetimes. */
export const playerTokenLifetimeMs = 60 * 60 * 1000;
export const accessTokenLifetimeMaxMs = 10 * 365 * 24 * 60 * 60 * 1000;
export const jwksMaxAgeMs = 5 * 60 * 1000;

function assertLimit(holds: boolean, sentence: string): void {
  if (!holds) throw new Error(`Impossible limits: ${sentence}`);
}

assertLimit(webhookRetryCount === 8, "the contract retries eight times");
assertLimit(webhookRetrySpanMs === 259_200_000, "the contract retries over three days");
assertLimit(webhookAckTimeoutMs === 10_000, "the contract waits ten seconds for an answer");
assertLimit(receiptMaxChars < bodyMaxBytes, "a receipt must fit into a body");
assertLimit(pageDefaultCount <= pageMaxCount, "the default page must be a legal page");
assertLimit(leaderboardNameMaxChars < pathParamMaxChars, "a name must fit into a path");
assertLimit(userIdMaxChars * 4 < pathParamMaxChars, "a user id must fit into a path");
