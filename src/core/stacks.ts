/** A way to the database that is not read: what goes through it is no write to the analysis. */
export interface UnsupportedStack {
  /** As people call it: `Prisma`. */
  readonly title: string;
  readonly package: string;
  /** The manifest that names it, else a file that imports it. */
  readonly file: string;
}

/** Through what a project writes, as far as packages tell. */
export interface StacksSeen {
  /** Whether an ORM that is read is among them, or the configuration names writers. */
  readonly hasOrm: boolean;
  readonly unsupported: readonly UnsupportedStack[];
  /** What people call the ORMs that are read. */
  readonly supported: readonly string[];
}

/** What an ORM that is not read means for the result. */
export function stackSentence({ title, package: name, file }: UnsupportedStack, supported: readonly string[]): string {
  return `${title} is not supported ('${name}' in ${file}); ${supported.join(', ')} is. Writes through ${title} are not seen, so a publish beside one is not reported. Functions that write can be named under 'writers' in outboxify.json.`;
}
