/** Every output format; `pretty` is the default. Each command takes some of them. */
export const formats = ['pretty', 'json', 'sarif', 'markdown', 'html', 'github', 'gitlab'] as const;

export type Format = (typeof formats)[number];
