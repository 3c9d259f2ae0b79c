// How fast this machine signs with nothing else to do: 64 RS256 signatures in flight in one process.
import { performance } from "node:perf_hooks";
import { CompactSign, generateKeyPair } from "jose";
import { answerParent } from "./child.ts";

export interface SignInput {
  readonly concurrent: number;
  readonly forMs: number;
}

const { privateKey } = await generateKeyPair("RS256", { modulusLength: 2048 });
const header = { alg: "RS256", typ: "service-purchase+jwt", kid: "key_01m5x3v0d0000000000000000" };
// As long as a receipt's claims; signing costs the same whatever they say.
const claims = new Uint8Array(420).fill(120);

answerParent({
  sign: async ({ concurrent, forMs }: SignInput): Promise<{ perSecond: number }> => {
    let count = 0;
    const startedAt = performance.now();
    const signOn = async (): Promise<void> => {
      while (performance.now() - startedAt < forMs) {
        await new CompactSign(claims).setProtectedHeader(header).sign(privateKey);
        count++;
      }
    };
    await Promise.all(Array.from({ length: concurrent }, signOn));
    return { perSecond: (count / (performance.now() - startedAt)) * 1000 };
  },
});
