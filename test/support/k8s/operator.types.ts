import type { ObjectMeta } from 'kubernetes-types/meta/v1.js';

/** Of the Prometheus operator's API (monitoring.coreos.com/v1), the fields that our manifests may have. */
export interface ServiceMonitor {
  apiVersion: 'monitoring.coreos.com/v1';
  kind: 'ServiceMonitor';
  metadata: ObjectMeta;
  spec: {
    selector: { matchLabels: Record<string, string> };
    endpoints: { port: string; path?: string; interval?: string; scrapeTimeout?: string }[];
  };
}

export interface PrometheusRule {
  apiVersion: 'monitoring.coreos.com/v1';
  kind: 'PrometheusRule';
  metadata: ObjectMeta;
  spec: {
    groups: {
      name: string;
      rules: {
        alert: string;
        expr: string;
        for?: string;
        labels: { severity: 'critical' | 'warning' | 'info' };
        annotations: { summary: string; runbook_url: string };
      }[];
    }[];
  };
}
