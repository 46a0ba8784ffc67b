type Labels = Readonly<Record<string, string>>;

const help = {
  outbox_pending_seconds: ['gauge', 'Age of the oldest message that waits for the relay.'],
  outbox_pending_count: ['gauge', 'Messages that wait for the relay, counted up to 10000.'],
  outbox_failed_count: ['gauge', 'Messages that are failed now, counted up to 10000.'],
  outbox_failed_total: ['counter', 'Messages that this relay gave up on.'],
  outbox_published_total: ['counter', 'Messages that the broker confirmed.'],
  outbox_publish_errors_total: ['counter', 'Publishes that failed, by what was at fault: message or broker.'],
} as const;

export type MetricName = keyof typeof help;

/** The relay's figures in Prometheus' text format. */
export class RelayMetrics {
  private readonly values = new Map<string, { readonly name: MetricName; value: number }>();

  constructor() {
    for (const name of ['outbox_pending_seconds', 'outbox_pending_count', 'outbox_failed_count', 'outbox_failed_total'] as const) this.set(name, 0);
    for (const fault of ['message', 'broker']) this.add('outbox_publish_errors_total', 0, { fault });
  }

  set(name: MetricName, value: number, labels: Labels = {}): void {
    this.values.set(series(name, labels), { name, value });
  }

  add(name: MetricName, amount: number, labels: Labels = {}): void {
    const key = series(name, labels);
    this.values.set(key, { name, value: (this.values.get(key)?.value ?? 0) + amount });
  }

  text(): string {
    const lines: string[] = [];
    for (const name of Object.keys(help) as MetricName[]) {
      lines.push(`# HELP ${name} ${help[name][1]}`, `# TYPE ${name} ${help[name][0]}`);
      for (const [key, entry] of this.values) if (entry.name === name) lines.push(`${key} ${entry.value}`);
    }
    return `${lines.join('\n')}\n`;
  }
}

function series(name: MetricName, labels: Labels): string {
  const pairs = Object.entries(labels).map(([label, value]) => `${label}="${value.replace(/["\\\n]/g, (c) => (c === '\n' ? '\\n' : `\\${c}`))}"`);
  return pairs.length === 0 ? name : `${name}{${pairs.join(',')}}`;
}
