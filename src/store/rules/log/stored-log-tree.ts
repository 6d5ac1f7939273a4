import { spanAt, spansOf } from '../../fields/field-lineage.ts'
import { FIELD_CHANGES } from '../../fields/stored-changes.ts'
import type { LogTreeStore } from '../../log-tree-store.ts'
import { LAST_CHECKPOINT, linesBefore, nodeHashes, placeOfLine, TREE_END } from '../../rows/log-tree.ts'
import type { Query } from '../../rows/query.ts'

/** The parts in which engines differ. */
interface LogTreeEngine extends Pick<LogTreeStore, 'leaves' | 'line' | 'addNodes' | 'addCheckpoint'> {
  query<T>(query: Query<T>): Promise<T>
}

/** Returns the Merkle tree of the log in the tables of an engine. */
export function storedLogTree({ query, ...engine }: LogTreeEngine): LogTreeStore {
  return {
    ...engine,
    end: () => query(TREE_END),
    before: (number) => query(linesBefore(number)),
    nodes: (level, from, to) => query(nodeHashes(level, from, to)),
    placeOf: (seq) => query(placeOfLine(seq)),
    nameAt: async (field, seq) => spanAt(spansOf(await query(FIELD_CHANGES), field), seq)?.name ?? field,
    lastCheckpoint: () => query(LAST_CHECKPOINT),
  }
}
