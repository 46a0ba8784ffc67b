import js from '@eslint/js';
import tseslint from 'typescript-eslint';

/** Sizes at which a file or function is split. */
const sizes = {
  'max-lines': ['error', { max: 300, skipBlankLines: true, skipComments: true }],
  'max-lines-per-function': ['error', { max: 60, skipBlankLines: true, skipComments: true }],
  'max-depth': ['error', 3],
  'max-params': ['warn', 3],
};

export default tseslint.config(
  { ignores: ['dist/', 'node_modules/', 'fixtures/', 'templates/', 'coverage/', 'demo/', 'bench/'] },
  js.configs.recommended,
  ...tseslint.configs.recommended,
  {
    files: ['src/**/*.ts', 'codemods/**/*.ts'],
    rules: {
      ...sizes,
      'no-console': 'error',
      'no-restricted-syntax': [
        'error',
        { selector: 'TSEnumDeclaration', message: 'Use a union of string literals.' },
        { selector: 'ExportAllDeclaration', message: 'No barrel files: import from where it is.' },
        { selector: 'ExportDefaultDeclaration', message: 'Name the export; only adapters and codemods have a default one.' },
      ],
    },
  },
  {
    files: ['src/adapters/*/index.ts', 'codemods/*/index.ts'],
    rules: {
      'no-restricted-syntax': ['error', { selector: 'TSEnumDeclaration', message: 'Use a union of string literals.' }, { selector: 'ExportAllDeclaration', message: 'No barrel files: import from where it is.' }],
    },
  },
  {
    rules: {
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_', ignoreRestSiblings: true }],
      '@typescript-eslint/consistent-type-imports': 'error',
      // Names from files that anyone may have written are cleaned of control characters.
      'no-control-regex': 'off',
      'no-useless-escape': 'error',
      eqeqeq: ['error', 'always', { null: 'ignore' }],
    },
  },
  {
    files: ['**/*.{js,mjs}'],
    languageOptions: { globals: { process: 'readonly', console: 'readonly', URL: 'readonly', setTimeout: 'readonly', clearTimeout: 'readonly', setImmediate: 'readonly', setInterval: 'readonly', clearInterval: 'readonly', AbortController: 'readonly', performance: 'readonly', TextDecoder: 'readonly', Buffer: 'readonly', fetch: 'readonly' } },
  },
);
