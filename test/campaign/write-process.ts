/*
 * Commits numbers to a database in a directory as a store does, and prints for each one the length of the trace after its commit. Then it
 * replaces a file, and syncs the directory.
 */
import { closeSync, fsyncSync, openSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Connection } from '../../src/store/sqlite/database/connection.ts'

const [directory = '', trace = '', count = ''] = process.argv.slice(2)

const print = (): void => console.log(statSync(trace).size)

const db = Connection.forWriting(join(directory, 'numbers.db'))
db.exec('CREATE TABLE IF NOT EXISTS numbers (number INTEGER)')
for (let number = 1; number <= Number(count); number += 1) {
  db.run('INSERT INTO numbers VALUES (?)', number)
  print()
}
db.close()
writeFileSync(join(directory, 'new.txt'), 'new', { flush: true })
renameSync(join(directory, 'new.txt'), join(directory, 'old.txt'))
const fd = openSync(directory, 'r')
fsyncSync(fd)
closeSync(fd)
print()
