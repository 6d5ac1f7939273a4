import { insertFile, openReference } from '../support/sqlite-reference.ts'

/** The reference for imports: parses each line of a file, and inserts it into a new database, all in one transaction. */
const [records = '', database = ''] = process.argv.slice(2)
const db = openReference(database)
insertFile(db, records)
db.close()
