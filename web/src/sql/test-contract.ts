import { toSheetContract, type ContractDocument, type SheetContract } from '../api/contract.ts'

/** A contract with a field of each type, for tests. */
export const CONTRACT: SheetContract = toSheetContract({
  name: 'Books',
  schema: [
    {
      name: 'books',
      properties: [
        { name: 'id', logicalType: 'string', primaryKey: true, required: true },
        { name: 'title', logicalType: 'string', required: true },
        {
          name: 'state',
          businessName: 'State',
          logicalType: 'string',
          quality: [{ metric: 'invalidValues', arguments: { validValues: ['new', 'worn'] } }],
        },
        { name: 'order', logicalType: 'integer' },
        { name: 'price', businessName: 'Price', logicalType: 'number' },
        { name: 'lent', logicalType: 'boolean' },
        { name: 'bought', businessName: 'Bought on', logicalType: 'date' },
        { name: 'languages', businessName: 'Languages', logicalType: 'array' },
        { name: 'publisher', logicalType: 'object' },
      ],
    },
  ],
})

/** Returns a contract with these fields. */
export function contractOf(properties: ContractDocument['schema'][0]['properties']): SheetContract {
  return toSheetContract({ schema: [{ name: 'sheet', properties }] })
}
