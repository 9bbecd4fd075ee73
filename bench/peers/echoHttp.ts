import { echoServer } from "./Echo.ts"
import { listen } from "./listen.ts"

listen(echoServer)
