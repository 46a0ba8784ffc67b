import { createServer, type Server } from 'node:http';
import type { RelayMetrics } from './metrics.js';
import type { Relay } from './relay.js';

/** Answers `/metrics` (Prometheus) and `/healthz` (200 while the relay's loop moves, 503 when it stands still). */
export function serveMonitoring(port: number, relay: Relay, metrics: RelayMetrics): Server | null {
  if (port === 0) return null;
  const server = createServer((request, response) => {
    const path = (request.url ?? '/').split('?')[0];
    if (path === '/metrics') {
      response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }).end(metrics.text());
    } else if (path === '/healthz') {
      response.writeHead(relay.isAlive() ? 200 : 503, { 'content-type': 'text/plain' }).end(relay.isAlive() ? 'ok\n' : 'stalled\n');
    } else {
      response.writeHead(404, { 'content-type': 'text/plain' }).end('not found\n');
    }
  });
  return server.listen(port);
}
