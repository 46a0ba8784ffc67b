/** At most three of the names that a misspelt one was likely meant to be, the nearest first. */
export function nearestNames(wanted: string, names: readonly string[]): readonly string[] {
  const target = wanted.toLowerCase();
  const limit = Math.max(2, Math.floor(target.length / 3));
  const near = [...new Set(names)]
    .map((name) => ({ name, distance: nameDistance(target, name.toLowerCase()) }))
    .filter(({ distance }) => distance <= limit)
    .sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1));
  const best = near[0]?.distance ?? 0;
  // Beside a close match, a far one only distracts.
  return near
    .filter(({ distance }) => distance <= 2 * best + 1)
    .slice(0, 3)
    .map(({ name }) => name);
}

/** A part of `Class.method` counts like the whole: `place` finds `OrderService.place`. */
function nameDistance(target: string, name: string): number {
  const distances = [editDistance(target, name)];
  if (!target.includes('.') && name.includes('.')) distances.push(...name.split('.').map((part) => editDistance(target, part) + 0.5));
  return Math.min(...distances);
}

/** Insertions, deletions and substitutions between two texts. */
function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const substitution = (previous[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1);
      current.push(Math.min(substitution, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[b.length] ?? 0;
}
