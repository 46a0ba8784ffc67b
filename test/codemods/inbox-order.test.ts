import path from 'node:path';
import { expect, it } from 'vitest';
import { createProject, fixtures, openProject, planCase, prepareCase, write, type Case } from './harness.js';

const subscriber = 'OrderEventsController.onOrderPaid';
const folder = path.join(fixtures, 'inbox-event-pattern/skip-publishes-on');
const inbox: Case = { codemod: 'inbox-event-pattern', name: 'order', folder, subscriber };
const rewrite: Case = { codemod: 'dual-publish-direct', name: 'order', folder, handler: subscriber };

it('a subscriber that publishes on gets its inbox when its event is stored, and keeps its stage', async () => {
  const project = createProject(inbox, 'plain', true);
  try {
    const legacy = openProject(project.folder);
    expect((await prepareCase(legacy, inbox)).reasons.map(({ code }) => code), 'a redelivery would no longer repeat the publish').toEqual(['publish-on']);

    write(project.folder, legacy, await prepareCase(legacy, rewrite));
    const dualPublish = openProject(project.folder);
    const prepared = await prepareCase(dualPublish, inbox);
    expect(prepared.reasons).toEqual([]);
    write(project.folder, dualPublish, prepared);

    const result = openProject(project.folder);
    expect(result.analysis.result.findings.map(({ stage }) => stage)).toEqual(['dual-publish']);
    expect(result.analysis.result.subscribers.map((found) => found.inbox)).toEqual([true]);
    expect(planCase(result, inbox)?.result).toMatchObject({ kind: 'skip', reason: { code: 'already-there' } });
    expect(planCase(result, rewrite)?.result).toMatchObject({ kind: 'skip', reason: { code: 'already-there' } });
    const text = result.workspace.read('src/order-events.controller.ts') ?? '';
    expect(text.indexOf('isFirstDelivery(manager'), 'the check is the first statement of the transaction').toBeLessThan(text.indexOf('manager.withRepository'));
    expect(text).toMatch(/if \(parcelPaid !== null\) \{\s+this\.client\.emit\('parcel\.paid', parcelPaid\);\s+\}/);
  } finally {
    project.remove();
  }
});
