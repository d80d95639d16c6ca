/** Which module may import which. A module that is not listed here may not exist. */
const MAY_IMPORT = {
  egress: [],
  config: ['egress'],
  tokens: [],
  http: [],
  store: [],
  observability: ['config'],
  lock: ['store'],
  admission: ['store'],
  auth: ['config', 'store', 'observability', 'egress'],
  ai: ['admission', 'lock', 'store', 'tokens', 'auth', 'config', 'observability', 'http', 'egress'],
  conversation: ['ai', 'lock', 'store', 'tokens', 'auth', 'config', 'observability', 'http'],
  admin: ['lock', 'ai', 'auth'],
  health: ['store', 'ai', 'http'],
  simulator: ['config', 'tokens'],
};

const MODULES = Object.keys(MAY_IMPORT);
const VAGUE_NAMES = '(^|/)(utils?|common|shared|helpers?|core)(/|[.][^/]+$)';

const downward = Object.entries(MAY_IMPORT).map(([module, allowed]) => ({
  name: `${module}-imports-downward`,
  comment: allowed.length === 0 ? `${module}/ imports nothing of ours` : `${module}/ may import ${allowed.join(', ')}`,
  severity: 'error',
  from: { path: `^src/${module}/` },
  to: { path: '^src/', pathNot: `^src/(${[module, ...allowed].join('|')})/` },
}));

const structure = [
  { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
  {
    name: 'only-through-index',
    comment: "what a module's index.ts does not export is its own business",
    severity: 'error',
    from: { path: '^src/([^/]+)/' },
    to: { path: '^src/[^/]+/', pathNot: ['^src/$1/', '^src/[^/]+/index[.]ts$'] },
  },
  {
    name: 'compose-through-index',
    comment: 'what puts the modules together sees what the modules export',
    severity: 'error',
    from: { path: '^src/[^/]+[.]ts$' },
    to: { path: '^src/[^/]+/', pathNot: '^src/[^/]+/index[.]ts$' },
  },
  {
    name: 'simulator-started-by-boot',
    comment: 'the product knows the simulator by its URL only',
    severity: 'error',
    from: { path: '^src/', pathNot: ['^src/boot[.]ts$', '^src/simulator/'] },
    to: { path: '^src/simulator/' },
  },
  {
    name: 'no-module-without-a-row',
    comment: 'a new folder under src/ needs a row in this table first',
    severity: 'error',
    from: { path: `^src/(?!(${MODULES.join('|')})/)[^/]+/` },
    to: {},
  },
  {
    name: 'no-vague-names',
    comment: 'utils, common, shared, helpers and core say nothing about what is in them',
    severity: 'error',
    from: {},
    to: { path: VAGUE_NAMES, pathNot: 'node_modules' },
  },
  { name: 'no-vague-places', severity: 'error', from: { path: VAGUE_NAMES, pathNot: 'node_modules' }, to: {} },
];

const outside = [
  { name: 'no-test-code', severity: 'error', from: { path: '^src/' }, to: { path: '^(test|bench|scripts)/' } },
  {
    name: 'only-declared-packages',
    comment: 'what src/ imports stands under "dependencies", or production has not got it',
    severity: 'error',
    from: { path: '^src/' },
    to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown', 'npm-optional'] },
  },
  {
    name: 'everything-resolves',
    comment: 'dist/ is there once it is built: programs that tests start as processes import it',
    severity: 'error',
    from: {},
    to: { couldNotResolve: true, pathNot: '(^|/)dist/' },
  },
  {
    name: 'sdk-behind-a-port',
    comment: "OpenTelemetry's SDK is loaded where something is exported, and by observability/otlp/ alone",
    severity: 'error',
    from: { path: '^src/', pathNot: '^src/observability/otlp/' },
    to: { path: 'node_modules/@opentelemetry/(?!api/)' },
  },
  {
    name: 'sdk-on-demand',
    severity: 'error',
    from: { path: '^src/', pathNot: '^src/observability/otlp/' },
    to: { path: '^src/observability/otlp/', dependencyTypesNot: ['dynamic-import', 'type-only'] },
  },
  {
    name: 'one-connection-layer',
    comment: 'Redis is spoken to through store/ alone',
    severity: 'error',
    from: { path: '^src/', pathNot: '^src/store/' },
    to: { path: 'node_modules/(ioredis|redis|@redis)/' },
  },
];

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [...structure, ...downward, ...outside],
  options: {
    doNotFollow: { path: ['node_modules', 'dist'] },
    exclude: { path: ['^dist/', '^bench/node_modules/'] },
    // An import of a type alone is a dependency too.
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
      extensions: ['.ts', '.js', '.mjs', '.cjs', '.json', '.d.ts'],
    },
  },
};
