import { join } from 'node:path';
import ts from 'typescript';
import { ROOT } from '../planted-project.js';
import type { Manifest } from './manifests.js';
import { textAt } from './tree.js';

/** Where the official types of Kubernetes 1.30 have a kind; another apiVersion of it is removed, or never was. */
const TYPES: Readonly<Record<string, string>> = {
  'v1 Namespace': 'kubernetes-types/core/v1.js',
  'v1 ConfigMap': 'kubernetes-types/core/v1.js',
  'v1 Service': 'kubernetes-types/core/v1.js',
  'v1 ServiceAccount': 'kubernetes-types/core/v1.js',
  'apps/v1 Deployment': 'kubernetes-types/apps/v1.js',
  'apps/v1 StatefulSet': 'kubernetes-types/apps/v1.js',
  'autoscaling/v2 HorizontalPodAutoscaler': 'kubernetes-types/autoscaling/v2.js',
  'networking.k8s.io/v1 Ingress': 'kubernetes-types/networking/v1.js',
  'networking.k8s.io/v1 NetworkPolicy': 'kubernetes-types/networking/v1.js',
  'policy/v1 PodDisruptionBudget': 'kubernetes-types/policy/v1.js',
  'monitoring.coreos.com/v1 PrometheusRule': './operator.types.js',
  'monitoring.coreos.com/v1 ServiceMonitor': './operator.types.js',
};

/**
 * Judges objects by Kubernetes' official schema: each is written down as a literal of its type, and the TypeScript compiler tells
 * unknown fields, missing ones and wrong types, as an API server with strict validation would.
 *
 * @param sets lists of objects, by any name
 * @returns the faults of each list
 */
export function schemaFaults(sets: ReadonlyMap<string, readonly Manifest[]>): ReadonlyMap<string, readonly string[]> {
  const names = new Map([...sets.keys()].map((name, index) => [pathOf(index), name]));
  const sources = new Map([...sets.values()].map((set, index) => [pathOf(index), set.map(sourceOf).join('\n')]));
  const faults = new Map<string, string[]>([...sets].map(([name, set]) => [name, set.flatMap(unknownKind)]));
  for (const { file, messageText } of ts.getPreEmitDiagnostics(programOf(sources))) {
    const name = names.get(file?.fileName ?? '');
    if (name === undefined)
      throw new Error(`the types themselves are wrong: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`);
    faults.get(name)?.push(ts.flattenDiagnosticMessageText(messageText, ' '));
  }
  return faults;
}

function pathOf(index: number): string {
  return join(ROOT, `test/support/k8s/set-${String(index)}.ts`);
}

function typeOf({ kind, tree }: Manifest): string | undefined {
  return TYPES[`${textAt(tree, 'apiVersion')} ${kind}`];
}

function unknownKind(manifest: Manifest): readonly string[] {
  return typeOf(manifest) === undefined ? [`there is no ${textAt(manifest.tree, 'apiVersion')} ${manifest.kind}`] : [];
}

function sourceOf(manifest: Manifest, index: number): string {
  const module = typeOf(manifest);
  if (module === undefined) return '';
  return `export const object${String(index)}: import('${module}').${manifest.kind} = ${JSON.stringify(manifest.tree)};`;
}

function programOf(sources: ReadonlyMap<string, string>): ts.Program {
  const options: ts.CompilerOptions = {
    target: ts.ScriptTarget.ES2023,
    lib: ['lib.es5.d.ts'],
    types: [],
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    strict: true,
    noEmit: true,
    skipLibCheck: true,
  };
  const disk = ts.createCompilerHost(options);
  const host: ts.CompilerHost = {
    ...disk,
    fileExists: (path) => sources.has(path) || disk.fileExists(path),
    readFile: (path) => sources.get(path) ?? disk.readFile(path),
    getSourceFile: (path, languageVersion) => {
      const text = sources.get(path);
      return text === undefined
        ? disk.getSourceFile(path, languageVersion)
        : ts.createSourceFile(path, text, languageVersion);
    },
  };
  return ts.createProgram({ rootNames: [...sources.keys()], options, host });
}
