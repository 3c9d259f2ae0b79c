// How many attempts may be under way to one endpoint: grows while it answers, shrinks when it hangs.

const startCount = 4;
const maxCount = 64;

export interface EndpointCap {
  current(): number;
  /** It answered in time, well or badly. */
  answered(): void;
  /** It kept us waiting until the time was up. */
  hung(): void;
}

/** One hanging endpoint soon holds one connection, and a quick one gets its full share after four answers. */
export function createEndpointCap(): EndpointCap {
  let count = startCount;
  return {
    current: () => count,
    answered: () => {
      count = Math.min(maxCount, count * 2);
    },
    hung: () => {
      count = Math.max(1, Math.floor(count / 2));
    },
  };
}
