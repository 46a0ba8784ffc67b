/** JSON as people write it in tsconfig files: comments and trailing commas. Null when it can't be read even so. */
export function parseLooseJson(text: string): unknown {
  const withoutComments = text
    .replace(/^\ufeff/, '')
    .replace(/"(?:[^"\\\n]|\\.)*"|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, (token) => (token.startsWith('"') ? token : ' '))
    .replace(/"(?:[^"\\\n]|\\.)*"|,(?=\s*[}\]])/g, (token) => (token === ',' ? '' : token));
  try {
    return JSON.parse(withoutComments);
  } catch {
    return null;
  }
}

export type JsonObject = Readonly<Record<string, unknown>>;

/** The value as an object; an empty one when it is something else. */
export function toObject(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The strings of an array; none when the value is something else. */
export function toStrings(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
}

/** The line of the first mistake in a text that is no JSON. The engine tells an offset for some mistakes only: it is the first line that can't be the beginning of a JSON text. */
export function lineOfError(text: string): number {
  const lines = text.replace(/^\ufeff/, '').trimEnd().split('\n');
  const isBeginning = (count: number): boolean => {
    const prefix = lines.slice(0, count).join('\n');
    try {
      JSON.parse(prefix);
      return true;
    } catch (error) {
      const message = error instanceof Error ? error.message : '';
      const offset = /at position (\d+)/.exec(message)?.[1];
      return /end of JSON input/.test(message) || (offset !== undefined && Number(offset) >= prefix.length);
    }
  };
  const wrong = lines.findIndex((_, index) => !isBeginning(index + 1));
  return wrong === -1 ? lines.length : wrong + 1;
}
