import type { FieldType, SheetField } from '../api/contract.ts'
import { testField as anyField } from '../api/test-field.ts'

/** Returns a field for tests. */
export function testField(name: string, type: FieldType, more: Partial<SheetField> = {}): SheetField {
  return anyField({ name, type, ...more })
}
