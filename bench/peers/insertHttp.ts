import { insertServer } from "./Insert.ts"
import { listen } from "./listen.ts"

listen(insertServer(process.argv[2]!))
