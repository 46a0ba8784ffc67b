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
