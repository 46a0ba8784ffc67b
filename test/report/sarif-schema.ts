import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import addFormats from 'ajv-formats';
import Draft04 from 'ajv-draft-04';

const file = createRequire(import.meta.url).resolve('@microsoft/jest-sarif').replace(/lib.index\.js$/, 'lib/schemas/sarif-2.1.0-rtm.5.json');
const ajv = new Draft04.default({ strict: false, allErrors: true, unicodeRegExp: false });
addFormats.default(ajv);

/** The official schema of SARIF 2.1.0, compiled. */
export const validateSarif = ajv.compile(JSON.parse(readFileSync(file, 'utf8')));
