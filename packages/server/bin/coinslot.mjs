#!/usr/bin/env node
// The command line, run from its sources.
import { bundle } from "./bundle.mjs";

process.setSourceMapsEnabled(true);
await import(await bundle());
