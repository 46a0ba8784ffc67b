import { analyse } from '../../analysis/analyse.js';
import { UsageError } from '../../core/errors.js';
import type { ExitCode } from '../../core/exit-code.js';
import type { Subscriber } from '../../core/finding.js';
import { nearestNames } from '../../core/nearest.js';
import { isAt } from '../../core/subject.js';
import { prepareInbox } from '../../rewrite/execute.js';
import { assertProject, assertServices, openContext } from '../context.js';
import type { InboxOptions } from '../options.js';
import { finishChange, undoChange } from '../rewrite/change.js';

/** `outboxify inbox <subscriber>` */
export async function runInbox(options: InboxOptions): Promise<ExitCode> {
  const context = await openContext(options);
  if (options.undo === true) return undoChange(context, options, options.subscriber, ['inbox']);
  assertProject(context);
  assertServices(context);
  const { workspace, config, out } = context;
  out.progress(`Reading ${workspace.files().length.toLocaleString('en-US')} files…`);
  const analysis = analyse(workspace, config);
  const subscriber = findSubscriber(analysis.result.subscribers, options.subscriber);
  const prepared = await prepareInbox({ workspace, config, analysis }, subscriber);
  out.progress(null);
  return finishChange(context, options, prepared, {
    name: subscriber.name,
    file: subscriber.file,
    destination: subscriber.destination,
    stage: 'inbox',
    subject: `inbox: ${subscriber.name}${subscriber.destination === null ? '' : ` (${subscriber.destination})`}`,
    force: undefined,
  });
}

function findSubscriber(subscribers: readonly Subscriber[], subject: string): Subscriber {
  const matches: readonly ((subscriber: Subscriber) => boolean)[] = [
    ({ name }) => name === subject,
    ({ file, name }) => `${file}#${name}` === subject,
    ({ name }) => name.split('.').at(-1) === subject,
    ({ destination }) => destination === subject,
    ({ file, destination }) => `${file}#${destination ?? ''}` === subject,
    (subscriber) => isAt(subject, subscriber),
  ];
  for (const isMatch of matches) {
    const found = subscribers.filter(isMatch);
    const [first, second] = found;
    if (first === undefined) continue;
    if (second === undefined || (second.file === first.file && second.span.start === first.span.start)) return first;
    throw new UsageError(`'${subject}' is the name of several subscribers: ${first.file}#${first.name} and ${second.file}#${second.name}.`, { code: 'ambiguous-subscriber', hint: `Name one as '${distinct(first, second)}'.` });
  }
  const near = nearestNames(subject, [...new Set(subscribers.map(({ name }) => name))]);
  const meant = near.length > 0 ? `Did you mean ${near.map((name) => `'${name}'`).join(' or ')}? ` : '';
  throw new UsageError(`No subscriber is called '${subject}'.`, { code: 'unknown-subscriber', hint: `${meant}'outboxify scan --format json' lists them.` });
}

/** What tells two subscribers apart: their file and name, or what they subscribe to. */
function distinct(first: Subscriber, second: Subscriber): string {
  const isSame = first.file === second.file && first.name === second.name;
  return `${first.file}#${isSame ? (first.destination ?? first.name) : first.name}`;
}
