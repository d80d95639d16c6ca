import js from '@eslint/js';
import regexp from 'eslint-plugin-regexp';
import tseslint from 'typescript-eslint';
import { house } from './scripts/eslint-house.mjs';

/** The limits of CONTRIBUTING.md, "How the code reads". */
const limits = {
  'max-lines': ['error', 250],
  'max-lines-per-function': ['error', 40],
  'max-params': ['error', 4],
  complexity: ['error', 10],
};

const names = [
  {
    selector:
      ':matches(VariableDeclarator > Identifier.id, :function > Identifier.params)[name=/^(req|res|opts|err|cb|util|helper|mgr)$/]',
    message: 'Spell it out: request, response, options, error.',
  },
  {
    selector: 'ClassDeclaration[id.name=/(Manager|Helper|Utils?|Common)$/]',
    message: 'Say what it is, not that it is something.',
  },
];

const environment = {
  'no-restricted-properties': [
    'error',
    { object: 'process', property: 'env', message: 'Only src/config/ reads the environment; take a setting.' },
  ],
  'no-restricted-imports': [
    'error',
    { paths: [{ name: 'node:process', importNames: ['env'], message: 'Only src/config/ reads the environment.' }] },
  ],
};

export default tseslint.config(
  { ignores: ['dist/', 'coverage/', 'test-results/', '**/node_modules/'] },
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  js.configs.recommended,
  {
    plugins: { house },
    rules: {
      ...limits,
      eqeqeq: 'error',
      'house/disable-with-reason': 'error',
      'no-restricted-syntax': ['error', ...names],
      'no-restricted-exports': [
        'error',
        {
          restrictDefaultExports: {
            direct: true,
            named: true,
            defaultFrom: true,
            namedFrom: true,
            namespaceFrom: true,
          },
        },
      ],
    },
  },
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      // A Nest module is a class whose content is its decorator.
      '@typescript-eslint/no-extraneous-class': ['error', { allowWithDecorator: true }],
      // A number prints as itself; the rule's worth is in objects, undefined and any.
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      // Nest types its options as classes and takes literals.
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
      // Leaving a member out by destructuring needs a name for it.
      '@typescript-eslint/no-unused-vars': ['error', { ignoreRestSiblings: true }],
      // `default` is how a switch over somebody else's union says "and whatever they add".
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
    },
  },
  {
    files: ['src/**/*.ts'],
    rules: {
      ...environment,
      'no-console': 'error',
      'no-restricted-syntax': [
        'error',
        { selector: 'SpreadElement > ObjectExpression', message: 'Write its members where it is spread.' },
      ],
      // It follows redirects, unpacks whatever comes, and goes to any address: docs/adr/0019.
      'no-restricted-globals': ['error', { name: 'fetch', message: 'Connect by src/egress/.' }],
    },
  },
  {
    // What strangers send meets many of them: their time must not grow faster than the text.
    files: ['src/**/*.ts'],
    plugins: { regexp },
    rules: {
      'regexp/no-super-linear-backtracking': 'error',
      'regexp/no-super-linear-move': ['error', { ignoreSticky: true }],
    },
  },
  { files: ['src/config/**/*.ts'], rules: { 'no-restricted-properties': 'off', 'no-restricted-imports': 'off' } },
  {
    files: ['test/**/*.ts'],
    rules: {
      // A describe block is a list of tests, not a function to follow.
      'max-lines-per-function': 'off',
      // Controllers of test modules have no state.
      '@typescript-eslint/class-methods-use-this': 'off',
    },
  },
  {
    files: ['**/*.mjs', '**/*.cjs'],
    extends: [tseslint.configs.disableTypeChecked],
    languageOptions: {
      globals: Object.fromEntries(
        [
          ...['AbortController', 'AbortSignal', 'Buffer', 'URL', 'clearInterval', 'console', 'fetch', 'performance'],
          ...['process', 'setInterval', 'setTimeout'],
        ].map((name) => [name, 'readonly']),
      ),
    },
  },
  // Tools find their configuration by its default export.
  {
    files: ['*.config.mjs', '.dependency-cruiser.mjs', 'scripts/test-sequencer.mjs'],
    rules: { 'no-restricted-exports': 'off' },
  },
);
