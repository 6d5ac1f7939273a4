import type { ProvenanceEntryAnswer } from '../../../../src/wire/records/provenance.ts'
import type { FieldType } from '../../api/contract.ts'
import { ValueChange } from '../diff/value-change.tsx'
import { isErased } from './origin-sentence.ts'

interface EntryChangeProps {
  readonly type: FieldType | null
  readonly entry: ProvenanceEntryAnswer
}

/** The values before and after an entry. */
export function EntryChange({ type, entry }: EntryChangeProps) {
  if (!isErased(entry)) return <ValueChange type={type} was={entry.previous} is={entry.value} />
  return <p className="value-change panel-faint">erased</p>
}
