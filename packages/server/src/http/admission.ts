// Lets a request in, or turns it away at once: too many are under way, or the database is not there to serve them.
import { ApiError } from "./api-error.ts";

/** More than any honest burst; each waits in memory. */
const underWayMaxCount = 5_000;

export interface Admission {
  /** Throws `unavailable`; otherwise to be followed by one `leave`. */
  enter(): void;
  leave(): void;
}

export function createAdmission(isDatabaseUp: () => boolean): Admission {
  let underWay = 0;
  return {
    enter() {
      if (!isDatabaseUp()) {
        throw new ApiError("unavailable", "The service cannot reach its database. Try again shortly.", {
          retryAfterS: 1,
        });
      }
      if (underWay >= underWayMaxCount) {
        throw new ApiError("unavailable", "The service is overloaded. Try again shortly.", {
          retryAfterS: 1,
        });
      }
      underWay++;
    },
    leave() {
      underWay--;
    },
  };
}
