//! The texts of the lessons.

use super::{Shown, Written, moments};
use conclave_core::Property;

pub(super) const LESSONS: &[Written] = &[
    Written {
        title: ["Why not just a file?", "Por que não só um arquivo?"],
        text: [
            "Two processes each read a number, add one, and write it back. It begins as 42, and \
             nothing keeps one from reading while the other is at it.",
            "Dois processos leem um número, somam um e escrevem de volta. Ele começa em 42, e nada \
             impede um de ler enquanto o outro trabalha.",
        ],
        scenario: ("lost-update", 0),
        question: ["What is the number in the end?", "Qual é o número no fim?"],
        options: &[["42", "42"], ["43", "43"], ["44", "44"]],
        right: 1,
        answer: [
            "Both read 42 and both write 43. Each did everything right, and one update is lost. \
             This is what mutual exclusion is for.",
            "Os dois leem 42 e os dois escrevem 43. Cada um fez tudo certo, e uma atualização se \
             perde. É para isso que serve a exclusão mútua.",
        ],
        shown: Shown::Value(43),
        steps: &[],
    },
    Written {
        title: ["One who decides", "Um que decide"],
        text: [
            "A coordinator lets one in at a time: whoever wants in asks, is let in, and says when \
             it leaves. Three clients enter, one after the other.",
            "Um coordenador deixa entrar um por vez: quem quer entrar pede, é admitido, e avisa \
             quando sai. Três clientes entram, um depois do outro.",
        ],
        scenario: ("central-walk", 0),
        question: [
            "How many messages does that take, for all three?",
            "Quantas mensagens isso custa, para os três?",
        ],
        options: &[["6", "6"], ["9", "9"], ["12", "12"]],
        right: 1,
        answer: [
            "REQUEST, GRANT, RELEASE: three for each entry, whoever else waits. No algorithm \
             without a coordinator needs so few when many nodes ask.",
            "REQUEST, GRANT, RELEASE: três por entrada, não importa quem mais espera. Sem \
             coordenador, nenhum algoritmo usa tão poucas quando muitos nós pedem.",
        ],
        shown: Shown::Messages(9),
        steps: &[],
    },
    Written {
        title: ["The one who decides forgets", "Quem decide esquece"],
        text: [
            "Client 1 is inside. The coordinator crashes and comes back at once, without its \
             memory. Then client 2 asks.",
            "O cliente 1 está dentro. O coordenador cai e volta na hora, sem memória. Então o \
             cliente 2 pede.",
        ],
        scenario: ("central-forgets", 0),
        question: ["What happens to client 2?", "O que acontece com o cliente 2?"],
        options: &[
            ["It waits until client 1 leaves", "Espera até o cliente 1 sair"],
            ["It is let in at once", "É admitido na hora"],
            ["It is never answered", "Nunca recebe resposta"],
        ],
        right: 1,
        answer: [
            "The coordinator remembers nobody, so it lets client 2 in: two are inside. What must \
             not be forgotten has to be on a disk, or on several nodes.",
            "O coordenador não lembra de ninguém, e admite o cliente 2: há dois dentro. O que não \
             pode ser esquecido precisa estar num disco, ou em vários nós.",
        ],
        shown: Shown::Broken(Property::S1),
        steps: &[],
    },
    Written {
        title: ["What came first?", "O que veio antes?"],
        text: [
            "Without a coordinator, requests carry logical times, and the earlier one goes first. \
             Two processes ask at the same logical time.",
            "Sem coordenador, os pedidos levam tempos lógicos, e o mais antigo vai primeiro. Dois \
             processos pedem no mesmo tempo lógico.",
        ],
        scenario: ("ricart-agrawala-tie", 0),
        question: ["Who enters first?", "Quem entra primeiro?"],
        options: &[
            ["Both at once", "Os dois ao mesmo tempo"],
            ["Neither: each waits for the other", "Nenhum: um espera pelo outro"],
            ["The one with the smaller number", "O de menor número"],
        ],
        right: 2,
        answer: [
            "Times that are equal are told apart by the number of the node, so any two requests \
             have an order on which all agree.",
            "Tempos iguais são desempatados pelo número do nó; assim dois pedidos quaisquer têm \
             uma ordem com que todos concordam.",
        ],
        shown: Shown::Kept(Property::V2),
        steps: &[],
    },
    Written {
        title: ["One is silent", "Um se cala"],
        text: [
            "In Ricart and Agrawala's algorithm everybody must agree before somebody enters. One \
             of four processes is dead, and process 1 asks.",
            "No algoritmo de Ricart e Agrawala todos precisam concordar antes de alguém entrar. Um \
             de quatro processos está morto, e o processo 1 pede.",
        ],
        scenario: ("ricart-agrawala-silent-process", 0),
        question: ["When does process 1 enter?", "Quando o processo 1 entra?"],
        options: &[
            ["After the answers of the other two", "Depois das respostas dos outros dois"],
            ["After a time-out", "Depois de um tempo limite"],
            ["Never", "Nunca"],
        ],
        right: 2,
        answer: [
            "The dead process never answers, and silence looks the same as \"wait\". Instead of \
             one point of failure there are now n of them.",
            "O processo morto nunca responde, e o silêncio é igual a \"espere\". Em vez de um \
             ponto de falha, agora há n.",
        ],
        shown: Shown::Broken(Property::V1),
        steps: &[],
    },
    Written {
        title: ["A late message", "Uma mensagem atrasada"],
        text: [
            "Lamport's algorithm relies on links that keep messages in order. Here one does not: \
             an answer overtakes a request that was sent before it.",
            "O algoritmo de Lamport conta com canais que mantêm a ordem. Aqui um não mantém: uma \
             resposta ultrapassa um pedido enviado antes dela.",
        ],
        scenario: ("lamport-overtaking", 0),
        question: ["What comes of it?", "O que resulta disso?"],
        options: &[
            ["It only takes longer", "Só demora mais"],
            ["Two are inside at once", "Há dois dentro ao mesmo tempo"],
            ["Both wait for ever", "Os dois esperam para sempre"],
        ],
        right: 1,
        answer: [
            "The answer says \"I have seen all that you sent\", and it is not true. Every \
             assumption that an algorithm states is one that somebody will break.",
            "A resposta diz \"vi tudo que você enviou\", e não é verdade. Toda hipótese de um \
             algoritmo um dia é quebrada por alguém.",
        ],
        shown: Shown::Broken(Property::S1),
        steps: &[],
    },
    Written {
        title: ["A vote is asked back", "Um voto é pedido de volta"],
        text: [
            "In Maekawa's algorithm a process needs the votes of its quorum only: here three \
             nodes, itself among them. Each node is an arbiter with one vote. Arbiter 1 votes for \
             7, whose request comes first. Then comes the request of 5, which is before that of 7: \
             equal logical times, and the smaller number.",
            "No algoritmo de Maekawa um processo só precisa dos votos do seu quórum: aqui três \
             nós, contando ele mesmo. Cada nó é um árbitro com um voto. O árbitro 1 vota em 7, \
             cujo pedido chega primeiro. Depois chega o pedido de 5, que vem antes do de 7: tempos \
             lógicos iguais, e número menor.",
        ],
        scenario: ("maekawa-inquire", 0),
        question: ["What does arbiter 1 do?", "O que faz o árbitro 1?"],
        options: &[
            ["It votes for 5, too", "Vota também em 5"],
            ["It lets 5 wait until 7 leaves", "Faz 5 esperar até 7 sair"],
            ["It asks 7 to give the vote back", "Pede a 7 o voto de volta"],
        ],
        right: 2,
        answer: [
            "It sends INQUIRE to 7: somebody is before you, can you do without my vote? To vote \
             twice would let two in. Just to wait would be a danger: 5 may hold a vote that 7 \
             needs.",
            "Envia INQUIRE a 7: alguém vem antes de você, pode ficar sem o meu voto? Votar duas \
             vezes deixaria dois entrarem. Só esperar seria um perigo: 5 pode ter um voto de que 7 \
             precisa.",
        ],
        shown: Shown::Step(15, "sends INQUIRE"),
        steps: moments::A_VOTE_IS_ASKED_BACK,
    },
    Written {
        title: ["To keep a vote, or to give it back", "Ficar com um voto, ou devolvê-lo"],
        text: [
            "7 has the vote of arbiter 1, and is asked to give it back. Arbiter 3 has told 7 \
             FAILED: another request is before yours.",
            "7 tem o voto do árbitro 1, e lhe pedem que o devolva. O árbitro 3 disse a 7 FAILED: \
             outro pedido vem antes do seu.",
        ],
        scenario: ("maekawa-inquire", 0),
        question: ["What does 7 do when INQUIRE comes?", "O que faz 7 quando chega INQUIRE?"],
        options: &[
            ["It keeps the vote until it has entered", "Fica com o voto até ter entrado"],
            ["It gives the vote back, and stays in line", "Devolve o voto, e continua na fila"],
            ["It withdraws its request", "Retira seu pedido"],
        ],
        right: 1,
        answer: [
            "It cannot enter yet, as FAILED says, so the vote is of no use to it: YIELD. Arbiter 1 \
             gives the vote to 5, and 7 waits in line again. Without a FAILED it would keep the \
             vote: it might be the next to enter.",
            "Ainda não pode entrar, como diz FAILED, e o voto não lhe serve: YIELD. O árbitro 1 dá \
             o voto a 5, e 7 volta a esperar na fila. Sem um FAILED ficaria com o voto: poderia \
             ser o próximo a entrar.",
        ],
        shown: Shown::Step(23, "receives YIELD from 7"),
        steps: moments::A_VOTE_IS_GIVEN_BACK,
    },
    Written {
        title: ["Votes that wait for each other", "Votos que se esperam"],
        text: [
            "The algorithm as it was first printed. Four processes ask, and each votes for itself. \
             Two requests are slow: that of 1 comes late to arbiter 4, where 3 stands first in \
             line.",
            "O algoritmo como foi impresso primeiro. Quatro processos pedem, e cada um vota em si. \
             Dois pedidos são lentos: o de 1 chega tarde ao árbitro 4, onde 3 é o primeiro da \
             fila.",
        ],
        scenario: ("maekawa-as-printed", 0),
        question: ["What comes of it?", "O que resulta disso?"],
        options: &[
            ["They enter one after the other", "Entram um depois do outro"],
            ["They wait for each other in a circle", "Esperam uns pelos outros em círculo"],
            ["Two are inside at once", "Há dois dentro ao mesmo tempo"],
        ],
        right: 1,
        answer: [
            "A deadlock. At arbiter 4, the request of 1 pushes 3 back to the second place, and \
             nobody tells 3. It has heard no FAILED, believes that it is next, and keeps its own \
             vote, which 2 needs; 2 keeps what 1 needs. (Each INQUIRE here is to the arbiter \
             itself: part of a step, and no message.)",
            "Um impasse. No árbitro 4, o pedido de 1 empurra 3 para o segundo lugar, e ninguém \
             avisa 3. Ele não ouviu FAILED, acredita ser o próximo, e fica com o próprio voto, de \
             que 2 precisa; 2 fica com o de que 1 precisa. (Cada INQUIRE aqui é ao próprio \
             árbitro: parte de um passo, e não mensagem.)",
        ],
        shown: Shown::Broken(Property::V1),
        steps: moments::NOBODY_TELLS_3,
    },
    Written {
        title: ["The missing FAILED", "O FAILED que faltava"],
        text: [
            "The same four requests. Sanders' rule is added: who was the first in line, and is no \
             longer, is told FAILED. So arbiter 4 now tells 3.",
            "Os mesmos quatro pedidos. Acrescenta-se a regra de Sanders: quem era o primeiro da \
             fila, e já não é, recebe FAILED. Assim o árbitro 4 agora avisa 3.",
        ],
        scenario: ("maekawa-sanders", 0),
        question: ["What does that one message change?", "O que muda com essa mensagem?"],
        options: &[
            ["Nothing: the circle stays", "Nada: o círculo continua"],
            ["One of the four gives up", "Um dos quatro desiste"],
            ["All four enter, one after the other", "Os quatro entram, um depois do outro"],
        ],
        right: 2,
        answer: [
            "3 now knows that it cannot enter yet, and gives its own vote back. That was the last \
             vote that 2 needed: 2 enters, and when it leaves the others follow. INQUIRE asks, \
             FAILED lets one answer.",
            "3 agora sabe que ainda não pode entrar, e devolve o próprio voto. Era o último de que \
             2 precisava: 2 entra, e quando sai os outros o seguem. INQUIRE pergunta, e FAILED \
             permite responder.",
        ],
        shown: Shown::Kept(Property::V1),
        steps: moments::SOMEBODY_TELLS_3,
    },
    Written {
        title: ["Who leads?", "Quem lidera?"],
        text: [
            "Seven processes; 7 led and is dead, and 4 notices. In the bully algorithm it asks all \
             that are greater, each of them does the same, and the greatest one announces itself.",
            "Sete processos; 7 liderava e morreu, e 4 percebe. No algoritmo valentão ele pergunta \
             a todos os maiores, cada um deles faz o mesmo, e o maior se anuncia.",
        ],
        scenario: ("bully-four-notices", 0),
        question: ["How many messages does it take?", "Quantas mensagens isso custa?"],
        options: &[["9", "9"], ["14", "14"], ["21", "21"]],
        right: 1,
        answer: [
            "4 asks 5, 6 and 7; 5 asks 6 and 7; 6 asks 7: six ELECTION. Three OK in return, and \
             five COORDINATOR: fourteen.",
            "4 pergunta a 5, 6 e 7; 5 a 6 e 7; 6 a 7: seis ELECTION. Três OK de volta, e cinco \
             COORDINATOR: quatorze.",
        ],
        shown: Shown::Messages(14),
        steps: &[],
    },
    Written {
        title: ["Dead, or only slow?", "Morto, ou só lento?"],
        text: [
            "Whoever has the token may enter. Node 1 is inside when it is paused for a long time. \
             The others hear nothing, take it for dead, and make a new token.",
            "Quem tem o token pode entrar. O nó 1 está dentro quando é pausado por muito tempo. Os \
             outros não ouvem nada, o dão por morto, e fazem um novo token.",
        ],
        scenario: ("token-ring-short-timeout", 0),
        question: ["What happens when it goes on?", "O que acontece quando ele continua?"],
        options: &[
            ["It notices and steps back", "Percebe e recua"],
            ["Two are inside: split brain", "Há dois dentro: cérebro dividido"],
            ["The new token is taken back", "O novo token é recolhido"],
        ],
        right: 1,
        answer: [
            "It was never told. Nobody can tell a dead node from a slow one by waiting, whatever \
             the time-out.",
            "Ninguém o avisou. Não se distingue um nó morto de um lento esperando, seja qual for o \
             tempo limite.",
        ],
        shown: Shown::Broken(Property::S1),
        steps: &[],
    },
    Written {
        title: ["Fences", "Fencing tokens"],
        text: [
            "So let the resource itself refuse whoever is late: each entry carries a number, the \
             fence, larger than all before. Here a majority of seven coordinators lets clients in, \
             and one of them forgets.",
            "Então que o próprio recurso recuse quem chega atrasado: cada entrada leva um número, \
             o fencing token, maior que todos os anteriores. Aqui uma maioria de sete \
             coordenadores admite clientes, e um deles esquece.",
        ],
        scenario: ("quorum-c4-forgets", 0),
        question: [
            "Two are inside. Can the resource tell which of them is late?",
            "Há dois dentro. O recurso consegue saber qual está atrasado?",
        ],
        options: &[
            ["Yes: the second has the larger fence", "Sim: o segundo tem o token maior"],
            ["No: both have the same fence", "Não: os dois têm o mesmo token"],
        ],
        right: 1,
        answer: [
            "The coordinator that forgot counts from the beginning again, and both clients carry \
             the same number. A fence helps only if whoever gives it out never forgets: that is \
             why the lock service keeps it in a replicated log.",
            "O coordenador que esqueceu conta do começo outra vez, e os dois clientes levam o \
             mesmo número. O token só ajuda se quem o dá nunca esquece: por isso o serviço de \
             travas o guarda num log replicado.",
        ],
        shown: Shown::Broken(Property::F1),
        steps: &[],
    },
];
