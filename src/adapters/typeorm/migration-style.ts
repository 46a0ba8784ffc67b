import path from 'node:path';

/** How a project writes its migrations: what a new one takes over. */
export interface MigrationStyle {
  readonly extension: '.ts' | '.js' | '.mjs' | '.cjs';
  /** TypeScript and ES modules export a class; CommonJS assigns it. */
  readonly module: 'esm' | 'cjs';
  readonly fileName: FileNameStyle;
  readonly indent: string;
  readonly quotes: 'single' | 'double';
  readonly semicolons: boolean;
  /** The import of TypeORM's types, as the project writes it; null: the usual one. */
  readonly importLine: string | null;
  readonly hasNameProperty: boolean;
  readonly hasPublic: boolean;
  readonly isDefaultExport: boolean;
  /** Largest time of an existing migration; 0 without one. */
  readonly latest: number;
}

export interface FileNameStyle {
  readonly timeFirst: boolean;
  readonly separator: string;
  readonly words: 'pascal' | 'camel' | 'kebab' | 'snake';
  /** `milliseconds` as TypeORM writes it, or `date`: YYYYMMDDhhmmss. */
  readonly time: 'milliseconds' | 'date';
}

/** An existing migration. */
export interface MigrationFile {
  readonly file: string;
  readonly text: string;
}

const usual: FileNameStyle = { timeFirst: true, separator: '-', words: 'kebab', time: 'milliseconds' };

/** What decides where there is no migration yet. */
export interface CodeAround {
  readonly quotes: 'single' | 'double';
  readonly isTypeScript: boolean;
  /** For a project in JavaScript. */
  readonly isEsm: boolean;
}

/** The style of the newest migration decides; without one, that of the code around. */
export function migrationStyleOf(files: readonly MigrationFile[], around: CodeAround): MigrationStyle {
  const newest = [...files].sort((a, b) => timeOf(a) - timeOf(b)).at(-1);
  if (newest === undefined) {
    return {
      extension: around.isTypeScript ? '.ts' : '.js', module: around.isTypeScript || around.isEsm ? 'esm' : 'cjs', fileName: usual,
      indent: '  ', quotes: around.quotes, semicolons: true, importLine: null, hasNameProperty: true, hasPublic: true, isDefaultExport: false, latest: 0,
    };
  }
  const { text } = newest;
  const extension = extensionOf(newest.file);
  const count = (pattern: RegExp): number => [...text.matchAll(pattern)].length;
  return {
    extension,
    module: extension === '.cjs' || /\bmodule\.exports\b|^exports\./m.test(text) ? 'cjs' : 'esm',
    fileName: fileNameStyle(files) ?? usual,
    indent: /^([ \t]+)\S/m.exec(text)?.[1] ?? '  ',
    quotes: count(/(?:from|=)\s+"/g) > count(/(?:from|=)\s+'/g) ? 'double' : 'single',
    semicolons: !/\bfrom\s+['"]typeorm['"]\s*$/m.test(text),
    importLine: /^import\s[^;\n]*\bMigrationInterface\b[^;\n]*\bQueryRunner\b[^;\n]*\bfrom\s+['"]typeorm['"];?\s*$/m.exec(onlyNames(text))?.[0].trim() ?? null,
    hasNameProperty: /^\s*(?:public\s+|readonly\s+)*name\s*=/m.test(text),
    hasPublic: /\bpublic\s+(?:async\s+)?up\b/.test(text),
    isDefaultExport: /\bexport\s+default\s+class\b/.test(text),
    latest: Math.max(0, ...files.map(timeOf)),
  };
}

/** An import that brings other names, too, is not taken over as it stands. */
function onlyNames(text: string): string {
  const names = /import\s+(?:type\s+)?\{([^}]*)\}\s*from\s+['"]typeorm['"]/.exec(text)?.[1]?.split(',').map((name) => name.replace(/\btype\b/, '').trim()).filter(Boolean) ?? [];
  return names.every((name) => name === 'MigrationInterface' || name === 'QueryRunner') ? text : '';
}

function extensionOf(file: string): MigrationStyle['extension'] {
  const extension = path.posix.extname(file);
  return extension === '.js' || extension === '.mjs' || extension === '.cjs' ? extension : '.ts';
}

/** Time in a class name (what TypeORM sorts by), else in the file name, in milliseconds. */
function timeOf({ file, text }: MigrationFile): number {
  const inClass = /\bclass\s+\w*?(\d{13})\b/.exec(text)?.[1];
  const inName = /(?<!\d)(\d{13})(?!\d)/.exec(path.posix.basename(file))?.[1];
  return Number(inClass ?? inName ?? 0);
}

function fileNameStyle(files: readonly MigrationFile[]): FileNameStyle | null {
  const names = files.map(({ file }) => path.posix.basename(file, path.posix.extname(file)));
  for (const name of names.reverse()) {
    const first = /^(\d{13,14})([-_.]?)(\D.*)$/.exec(name);
    const last = /^(.*\D)([-_.]?)(\d{13,14})$/.exec(name);
    const [, a = '', b = '', c = ''] = first ?? last ?? [];
    if (first === null && last === null) continue;
    const [time, separator, words] = first === null ? [c, /[-_.]$/.exec(a)?.[0] ?? b, a.replace(/[-_.]$/, '')] : [a, b, c];
    return { timeFirst: first !== null, separator, words: wordStyle(words), time: time.length === 14 ? 'date' : 'milliseconds' };
  }
  return null;
}

function wordStyle(words: string): FileNameStyle['words'] {
  if (words.includes('-')) return 'kebab';
  if (words.includes('_')) return 'snake';
  if (/^[A-Z]/.test(words)) return 'pascal';
  return /[A-Z]/.test(words) ? 'camel' : 'kebab';
}

/** File name without its folder: `1746000000000-create-outbox.ts`. */
export function migrationFileName(name: string, time: number, { fileName, extension }: Pick<MigrationStyle, 'fileName' | 'extension'>): string {
  const stamp = fileName.time === 'date' ? new Date(time).toISOString().replace(/\D/g, '').slice(0, 14) : String(time);
  const words = toWords(name, fileName.words);
  return `${fileName.timeFirst ? `${stamp}${fileName.separator}${words}` : `${words}${fileName.separator}${stamp}`}${extension}`;
}

/** `create outbox` in the given style. */
export function toWords(name: string, style: FileNameStyle['words']): string {
  const words = name.replace(/([a-z\d])([A-Z])/g, '$1 $2').split(/[^A-Za-z\d]+/).filter(Boolean).map((word) => word.toLowerCase());
  const capital = (word: string): string => `${word.charAt(0).toUpperCase()}${word.slice(1)}`;
  switch (style) {
    case 'pascal': return words.map(capital).join('');
    case 'camel': return words.map((word, index) => (index === 0 ? word : capital(word))).join('');
    case 'kebab': return words.join('-');
    case 'snake': return words.join('_');
  }
}
