// How the tests run: against the sources, with one PostgreSQL for all of them.
import { defineConfig } from "vitest/config";

const conditions = ["coinslot-source", "module", "node", "development|production"];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: ["packages/*/{src,test}/**/*.test.ts", "scripts/**/*.test.ts", "test/**/*.test.ts"],
    globalSetup: ["packages/server/test/support/global-setup.ts"],
    // Test files share no state but the server that their databases are on, so modules need loading once a worker.
    isolate: false,
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
