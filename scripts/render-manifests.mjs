/**
 * Writes k8s/rendered/<overlay>.yaml, what `kubectl apply -k k8s/overlays/<overlay>` applies; with --check it only compares. They are
 * committed, so that tests and reviews see what a change of a base does to every overlay.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
// First: kustomize reads it.
import './render-dashboard.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const isCheck = process.argv.includes('--check');

const stale = readdirSync(`${root}k8s/overlays`).filter((overlay) => {
  const path = `${root}k8s/rendered/${overlay}.yaml`;
  const text = execFileSync('kubectl', ['kustomize', `${root}k8s/overlays/${overlay}`], { encoding: 'utf8' });
  if (!isCheck) writeFileSync(path, text);
  return isCheck && readFileSync(path, 'utf8') !== text;
});
if (stale.length > 0) {
  console.error(`k8s/rendered is older than k8s/ (${stale.join(', ')}): run node scripts/render-manifests.mjs`);
  process.exitCode = 1;
}
