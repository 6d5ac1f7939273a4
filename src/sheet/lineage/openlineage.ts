import type { Sheet } from '../sheet.ts'
import { LineageEvents, type LineageSheet } from './openlineage-event.ts'
import { PastDefinitions } from './past-definitions.ts'
import { runsByAge } from './runs-by-age.ts'

/**
 * Yields the events of OpenLineage of all runs that the sheet keeps, as lines, the oldest run first. A run that begins meanwhile is not
 * among them.
 */
export async function* openlineageBytes(sheet: Sheet, described: LineageSheet): AsyncGenerator<Uint8Array> {
  const events = new LineageEvents(described)
  const definitions = await PastDefinitions.read(sheet)
  for await (const run of runsByAge(sheet)) {
    const lines = events
      .ofRun(run, definitions.at(run.startedAt))
      .map((event) => `${JSON.stringify(event)}\n`)
    yield Buffer.from(lines.join(''))
  }
}
