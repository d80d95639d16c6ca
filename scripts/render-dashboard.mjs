/** Writes k8s/components/dashboard/coordinator.json, made of the panels.yaml beside it; with --check it only compares. */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { dashboardText } from './dashboard.mjs';

const folder = fileURLToPath(new URL('../k8s/components/dashboard/', import.meta.url));
const text = dashboardText(parse(readFileSync(`${folder}panels.yaml`, 'utf8')));

if (!process.argv.includes('--check')) writeFileSync(`${folder}coordinator.json`, text);
else if (readFileSync(`${folder}coordinator.json`, 'utf8') !== text) {
  console.error('coordinator.json is older than panels.yaml: run node scripts/render-manifests.mjs');
  process.exitCode = 1;
}
