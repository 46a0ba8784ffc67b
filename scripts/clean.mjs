// Removes the build output, so that a deleted source never survives as a stale module.
import { rmSync } from 'node:fs';

rmSync(new URL('../dist', import.meta.url), { recursive: true, force: true });
