"""English verbs, and what is said of things as verbs say it, by the concept they stand for."""

from typing import Final

VERBS: Final = {
    "end + verb work": """quit my job at, quit my job, leave my job at, leave my job, resign, resign
        from, be laid off from, be laid off, be fired from, get laid off from, get laid off, get
        fired from, quit the job at, quit working at, quit working for, stop working at, stop
        working for, step down, step down from, step down as, resign as, hand in my notice, hand in
        his notice, hand in her notice, give notice, leave the company, be let go, lose my job, lose
        my job at, be made redundant, quit as""",
    "verb birth": """give birth, gave birth, give birth to, gave birth to, have the baby, had the
        baby, have our baby, have my baby""",
    "verb job hunt": """look for a job, be looking for a job, look for work, be looking for work,
        look for a new job, be looking for a new job, job hunt, be job hunting, be between jobs""",
    "verb split": """break up with, break up, split up with, split up, part ways with, broke up,
        broken up""",
    "verb prepare": "prepare for, study for, prepare, get ready for, revise for, train for",
    "verb lend": "lend, lent, loan",
    "verb borrow": "borrow, take out a loan, be lent",
    "verb owe": "owe",
    "verb give": "give, give to, hand to, donate, gift to",
    "verb tell": "tell, told, inform, notify",
    "verb recommend": "recommend, suggest, advise, propose",
    "verb beat": "beat, defeat, outperform",
    "verb thank": "thank",
    "verb follow": "follow, chase",
    "verb hire": "hire, recruit, take on, bring on board, employ as",
    "verb mentor": "mentor, coach",
    "verb contact": "contact, reach out to, get in touch with, reach by",
    "verb trust": "trust, believe in, rely upon",
    "verb miss": "miss, long for",
    "verb admire": "admire, look up to, respect",
    "verb collect": "collect, gather",
    "verb sing": "sing, sang, sung",
    "verb dance": "dance",
    "verb paint": "paint, draw, drew, sketch",
    "verb knit": "knit, sew",
    "verb garden": "garden, gardening",
    "verb meditate": "meditate, meditation, do yoga, yoga",
    "verb ski": "ski, snowboard",
    "verb ride": "ride, rode, ridden, cycle to",
    "verb volunteer": "volunteer",
    "verb invest": "invest",
    "verb save up": "save up, save money",
    "verb rent": "rent, lease",
    "verb suffer": """suffer from, have trouble with, struggle with, be diagnosed with, have been
        diagnosed with, be suffering from, be afflicted with, live with the condition, be prone
        to""",
    "verb specialise": "specialise in, specialize in, focus on, concentrate on",
    "verb track": "track, monitor, keep track of",
    "verb log": "log",
    "verb sync": "synchronise, synchronize",
    "verb load": "load",
    "verb delete": "delete, remove, erase, wipe, purge, clear out, get deleted",
    "verb add": "add, append, insert",
    "verb measure": "measure",
    "verb prioritise": "prioritise, prioritize",
    "verb attend": """take part in, be engaged in, engage in, participate in, go along to, attend,
        be a pupil at, go to class at, be at school at, be present at""",
    "verb apply": "apply, apply for, apply to",
    "verb like": """like, love, enjoy, adore, be fond of, be a fan of, be into, be keen on, fancy,
        appreciate, be a big fan of, be crazy about, be passionate about, take pleasure in, dig, be
        a lover of, be a huge fan of, have a taste for, be partial to, be a fan, be enthusiastic
        about, have a passion for, be really into, get a kick out of, delight in, have a soft spot
        for, be wild about, be obsessed with, be a sucker for, have a thing for, be mad about, be
        devoted to, have a liking for, be a lover, find great, think the world of, be taken with, be
        head over heels for, find pleasure in""",
    "not + verb like": """dislike, hate, detest, loathe, can not stand, can't stand, cannot stand,
        could not stand, can not bear, cannot bear, despise, be no fan of, be not a fan of, be
        averse to, not care for, be sick of, have no love for, be put off by, can not abide, not be
        into, be not into, be not keen on, find annoying, find irritating, be annoyed by, be
        bothered by, be irritated by, have a dislike of, have an aversion to, be allergic to the
        idea of, not be fond of, be not fond of, not enjoy, be disgusted by""",
    "verb want": """want, wish, would like, desire, would love, hope, hope for, be looking for,
        look for, looking for, seek, be interested in getting, would be happy with, ask for,
        asked for, request, plan to, intend to, aim to, be going to, plan, want to have, try to,
        aim at, be hoping to, be keen to""",
    "verb need": """need, require, call for, be necessary, be required, be needed, must have, can
        not do without, depend on, could do with""",
    "verb live": """live, reside, dwell, be based in, call home, have a home in, have a flat in,
        have an apartment in, have a house in, be a resident of, make a home in, based in, living
        in, be located in, have been living in, make my home in, stay in, have settled in, reside
        at, have a place in, my home be in, home be in, be living at, live over in, be domiciled in,
        have residence in, home town now be, be resident in, have moved to and live in, inhabit""",
    "verb come from": """come from, be from, be originally from, originate from, grow up in, grew up
        in, be a native of, hail from, be originally, native of, be raised in, be brought up in,
        hometown be, home town, home town be, be a native, spend my childhood in, have roots in, be
        born and raised in""",
    "verb work": """work, be employed, have a job at, have a job, work for, work at, be on the
        staff of, earn a living as, make a living as, be employed by, be employed at, work out of,
        be with, be an employee of, work over at, hold a position at, have a position at, be a
        staff member at, work within, be on the payroll of, be employed with""",
    "verb study": """study, be a student at, be enrolled at, major in, go to school at, go to
        university at, go to college at, have a degree in, hold a degree in, degree in, hold a
        degree from, be reading for a degree in, do a degree in, be a student of""",
    "verb learn": """learn, be taking lessons in, take lessons in, take classes in, pick up,
        practise, practice, be learning, take a course in, be taking a course in, teach myself,
        teach oneself""",
    "verb teach": """teach, taught, give lessons in, be a teacher of, instruct, tutor, give
        classes in, give lessons on, lecture on""",
    "verb manage": """manage, be in charge of, be responsible for, run the company, run the team,
        run the department, run the shop, run the business, head, head up, oversee, oversaw, be the
        lead of, look after, supervise, take care of, be the owner of, be accountable for, handle,
        be the head of, be the leader of, coordinate, lead, directs, directed, tech lead of, lead
        of, head of, team lead of, leader of, in charge of, responsible for, be the manager of, be
        the owner for, own the, be the point person for, be the contact for, be the maintainer of,
        be headed by, preside over, be in control of, run point on, steer, chair, be chair of, run
        marketing, run sales, run support, run operations, run engineering, deal with all, be tasked
        with, be the go-to person for, be the person responsible for, be the one responsible for, be
        at the helm of, be the person in charge of, have responsibility for, have charge of, be in
        the hands of""",
    "verb report to": "report to, answer to",
    "verb name": """call, name, be called, be named, go by, go by the name, be known as, be titled,
        have the name, the name of, name be, whose name be, nickname, goes by the name, name as,
        refer to as, address me as, refer to me as, call me by, be known by, address as, want to be
        called, would like to be called, prefer to be called, like to be called, should be called,
        prefer the name, use the name, be nicknamed, go under the name, bear the name, be
        christened""",
    "verb use": """use, using, rely on, utilise, utilize, employ, make use of, work with, be built
        on, build on, be based on, be powered by, go with, choose, select, pick, opt for, settle on,
        decide on, decide for, go for, decide to use, stick with, stick to, go for using, be running
        on, be made with, be built with, adopt for, go ahead with, have chosen, have selected, have
        picked, have decided on, be our choice for, be the choice for, land on""",
    "light": """decide to, agree to, choose to, tend to, happen to, get to, manage to, be able to,
        can, could, would, will, shall, may, might, be about to, start to, begin to, want to use,
        help to, used for, a, an, the, this, these, those, its, it, their, them, they, there, here,
        you, your, yours, also, too, very, really, quite, just, so, such, some, any, all, both,
        only, finally, eventually, whom, what, how, something, someone, thing, stuff, one of, kind
        of, sort of, a bit, a little, a lot, lot, lots, well, even, both of, of course, around,
        approximately, roughly, up, down, off, whether, along, together, etc, else, directly,
        straight, much, many, like this, by default, for example, e.g, i.e, being able to, every one
        of, his, her, hers, himself, herself, itself, themselves, strongly, deeply, truly,
        absolutely, completely, totally, particularly, personally, generally, basically, simply,
        certainly, definitely, probably, originally, in particular, in general, by far, more than
        anything, over anything else, while doing, let, own""",
    "change + verb write": "rewrite in, rewrite, port to, reimplement in, reimplement",
    "verb write": "write, implement, develop in, compose, code in, program in",
    "verb build": "build, create, develop, construct, put together",
    "verb buy": """buy, bought, purchase, acquire, order, get myself, get hold of, pay for a,
        invest in a""",
    "end + be": "sell, sold, give away, gave away, lose, lost, no longer have, part with",
    "verb eat": """eat, ate, eaten, consume, have for dinner, have for lunch, have for breakfast,
        dine""",
    "verb drink": "drink, drank, drunk, sip",
    "verb cook": "cook, bake, roast",
    "verb smoke": "smoke, smoking, be a smoker",
    "verb drive": "drive, drove, driven, be a driver of",
    "verb commute": """commute, get to work, get to the office, travel to work, way to work, get to
        the job, commute to work, commute to the office, go to the office, travel to the office, get
        to the workplace""",
    "verb commute + word bicycle": """cycle to work, bike to work, ride a bike to work, ride my
        bike to work, commute by bike, commute by bicycle, cycle to the office, bike to the
        office""",
    "verb commute + word car": """drive to work, commute by car, drive to the office, go to work
        by car, take the car to work""",
    "verb commute + word bus": """take the bus to work, commute by bus, go to work by bus, ride
        the bus to work""",
    "verb commute + word train": """take the train to work, commute by train, go to work by train,
        ride the train to work""",
    "verb commute + verb walk": """walk to work, go to work on foot, walk to the office, commute
        on foot""",
    "verb run": "run, ran, jog, go for a run, go running, go jogging, go for a jog",
    "verb walk": "walk, stroll, go for a walk, go walking",
    "verb swim": "swim, swam, go swimming, go for a swim",
    "verb hike": "hike, hiking, go hiking, trek, go for a hike",
    "verb exercise": """exercise, work out, workout, go to the gym, hit the gym, do sports, do
        sport, be at the gym, lift weights, train at the gym, work out at the gym, exercise at the
        gym, hit the weights, be in the gym, go to the fitness centre, keep fit, do fitness""",
    "verb sleep": """sleep, slept, go to bed, go to sleep, fall asleep, be in bed, hit the sack,
        call it a night, hit the hay""",
    "verb wake": """wake up, get up, wake, woke, woke up, got up, be up, get out of bed, wake at,
        rise at, be awake, get out of bed at, be an early riser at""",
    "verb travel": "travel, trip, journey, take a trip, go on a trip, go abroad, be on the road",
    "verb visit": """visit, have been to, been to, go to see, went to see, tour, travel to, take a
        trip to, go on holiday to, spend a holiday in, vacation in""",
    "verb depart": """leave on, leave at, depart, take off, set off, leave for, head off, be off at,
        be leaving at""",
    "verb arrive": "arrive, land, get in, get there, reach, touch down, be due in",
    "verb fly": "fly, flew, flown",
    "verb store": """store, save, keep in, hold in, put in, persist, archive, be stored, stash, live
        in the, be kept in, be kept at, be kept for, be kept on, retain, keep for, hold for, be
        retained for, preserve, keep at, live in the folder""",
    "verb send": """send, sent, mail, deliver, ship, forward, submit to, dispatch, email to,
        transmit, hand over to""",
    "verb deploy": """deploy, release, ship to production, roll out, publish, push to production,
        go live, go to production, be released, be rolled out, put into production""",
    "verb fix": """fix, repair, resolve, patch, solve, mend, sort out, rectify, correct the, remedy,
        work out the, debug""",
    "verb break": """break, broke, broken, crash, be out of order, malfunction, be broken,
        be down, be out of service""",
    "verb pass": "pass, succeed, be successful",
    "not + verb pass": "fail, be unsuccessful",
    "verb open": "open, be open, opening time, opening hours, opening time of, open its doors",
    "not + verb open": """close, closed, shut, be shut, closing time, close its doors, shut its
        doors""",
    "verb enable": "enable, turn on, switch on, activate, be enabled",
    "not + verb enable": "disable, turn off, switch off, deactivate, mute",
    "verb allow": """allow, permit, be allowed, authorise, authorize, be permitted, be ok with, be
        fine with, be acceptable, let people""",
    "not + verb allow": """forbid, ban, prohibit, disallow, block, be not allowed, be prohibited, be
        forbidden, be not permitted, be off limits, not permitted, be banned, be disallowed, not be
        allowed, be verboten""",
    "verb support": """support, be compatible with, work on, be available in, be offered in, have
        support for, be usable on""",
    "verb expire": """expire, be valid for, be valid, stay valid, run out, be good for, time out,
        end on, run until, be good until, lapse, be valid until""",
    "verb cost": """cost, be priced at, price, sell for, pay for, be worth, charge, fee, set back,
        be sold for, set you back, price tag, go for the price of, come with a price of, price be,
        come at, be available for, have a price of, run to""",
    "verb pay": """pay, paid, earn, make a salary of, salary, get paid, wage, make a salary, get a
        salary of, take home, income, bring home""",
    "verb due": """due, deadline, be due, be due by, submit, hand in, hand over, be handed in, turn
        in, must be finished by, has to be finished by, must be done by, due date, finish by, has to
        be paid by, must be paid by, have to be paid by, be payable by, be payable, has to be done
        by, have to be done by, be needed by, be expected by, must be submitted by, has to be
        submitted by, have to be submitted by, must be handed in by, must be delivered by, needs to
        be done by, need to be done by, needs to be finished by, submission date, cutoff, cut-off,
        payment term, payment terms, terms of payment, have to be in by, must be in by, be to be
        submitted by, be to be paid by, time limit for, be to be delivered by""",
    "verb start": """start, begin, began, begun, kick off, commence, get going, open with, get
        started, get under way, be kicked off, be due to start, set out""",
    "verb finish": """end, finish, complete, wrap up, be done, be finished, be complete, conclude,
        be over, come to an end, be completed, be through with, get done, finalise, finalize, get
        finished""",
    "verb found": "found, founded, establish, start in, be started in, set up, be set up in",
    "verb born": "born, be born, birth, date of birth",
    "verb die": """die, pass away, passed away, be dead, be deceased, lose his life, lose her
        life, depart this life""",
    "verb graduate": """graduate, get a degree, finish university, finish college, get my degree,
        got my degree, receive a degree, earn a degree, obtain a degree""",
    "verb sign": "sign, signed",
    "verb win": "win, won",
    "verb first": "invent, discover, come out, came out, debut, premiere, launch in",
    "verb speak": """speak, spoke, spoken, be fluent in, know how to speak, be able to speak, be
        bilingual in, can speak, know some, have a good command of, be conversant in, converse in,
        be a speaker of, be fluent at, have fluent, speak fluent, be proficient in""",
    "verb know": """know, knew, be familiar with, be acquainted with, have experience with, be
        versed in, be knowledgeable about, have knowledge of""",
    "verb play": "play, playing",
    "verb read": "read, reading",
    "verb watch": "watch, see, saw, seen, view, look at, tune in to",
    "verb meet": """meet, met, meeting, get together with, get together, have a meeting with, hold a
        meeting with, catch up with, hold a meeting, have a meeting, have a call with, have a
        session with, sit down with""",
    "verb talk": """talk, chat, discuss, converse, speak with, speak to, have a chat with, have a
        conversation with""",
    "verb call": """ring, call up, give a call, call my, call their, call his, call her, phones,
        phoned, phoning, phone my, phone their, phone his, phone her""",
    "verb answer": """answer, reply, respond, response, write back, get back to, response time, get
        back within""",
    "verb fear": """afraid, be afraid of, scared, be scared of, fear, be terrified of, frightened,
        have a fear of, have a phobia of, be phobic about, be frightened of, dread, have a fear, be
        frightened by, be scared by""",
    "verb allergic": """allergic, allergy, be allergic to, have an allergy, have allergy,
        intolerant, react badly to, be intolerant to, be intolerant of, intolerance, have an
        intolerance, be hypersensitive to, have an allergic reaction to, break out in hives from,
        get hives from, allergic reaction""",
    "verb weigh": "weigh, weight",
    "verb listen on": "listen, listen on, run on port, bind to",
    "verb run on": """run on, host on, host at, host with, be hosted with, be hosted on, be hosted
        at, be deployed on, be deployed to, be running in, be served from, be served by""",
    "verb return": "return, give back, yield",
    "verb cover": "cover, deal with, be about, treat",
    "verb taste": "taste, smell, sound",
    "verb help": "help, aid, support with, assists, assisted",
    "verb care": "care for, nurse back, take care of my, look after my, be a carer for",
    "verb commit": "commit, commit to, push, check in, check in to",
    "verb merge": "merge, merging",
    "verb test": "test, testing, check, verify, validate, run tests on, put to the test",
    "verb review": "review, approve, approval, sign off",
    "verb expect": """pregnant, expect a baby, be expecting, be expecting a baby, be going to have a
        baby, expect a child, be expecting a child, be having a baby, be going to be a mother, be
        with child""",
    "verb limit": """limit, cap, rate limit, be limited to, be capped at, restrict, at most, up to,
        no more than, not more than, not exceed, must not exceed, should not exceed, not longer
        than, under the limit of, maximum of, max of, maximum, max, maximum size, be at most, be no
        more than, maximum upload size, be no longer than, be no larger than""",
    "verb format": "format, style",
    "verb indent": "indent, indentation",
    "verb sit": "sit, sat, be seated",
    "verb wear": "wear, wore, worn",
    "verb belong": "belong, be part of, be a member of",
    "verb remember": "remember, recall, memorise",
    "verb introduce": "introduce, presents, presented, presenting, will present, to present",
    "verb skilled": """be good at, be great at, be skilled at, be skilled in, excel at, excel in, be
        talented at, have a talent for, be an expert in, be an expert at, be strong in, be
        proficient at, be good with, have a knack for, be gifted at""",
    "verb squash": "squash",
    "verb back up": "back up, backup, make a backup of, make backups of, take backups of",
    "verb interest": "be interested in, be curious about, interested in, have an interest in",
    "verb clean": "clean, wash, tidy, tidy up, do the cleaning of, scrub",
    "verb grow": "grow, plant",
    "verb invite": "invite",
    "verb share": "share",
    "verb explain": "explain, describe, clarify",
    "verb summarise": "summarise, summarize, summary, sum up",
    "verb translate": "translate, translation",
    "verb register": "register, sign up, sign up for, subscribe to, subscribe, enroll in, enrol in",
    "verb log in": "log in, sign in, log into, sign into, login",
    "verb book": "book, reserve, make a reservation, booked",
    "verb celebrate": "celebrate",
    "verb organise": "organise, organize, arrange, set up a, host a",
    "verb assign": "assign, be assigned to, allocate",
    "verb notify": "alert, ping, remind",
    "verb generate": "generate, produce, output",
    "verb export": "export, download",
    "verb import": "import, upload, ingest",
    "verb retry": "retry, try again",
    "verb trigger": "trigger, kick in, fire when",
    "verb cache": "cache",
    "verb hurt": "hurt, ache, be painful, pain, injure, be injured",
    "verb recover": """recover, get better, heal, be well again, get over, be cured of, be over the,
        be healthy again""",
    "verb renew": "renew, prolong",
    "verb park": "park",
    "verb bring": "bring, carry, take along",
    "verb wait": "wait, wait for",
    "verb argue": "argue, fight, quarrel",
    "verb vote": "vote",
    "verb agree": "agree, approve of, be in favour of, be in favor of",
    "not + verb agree": "disagree, oppose, object to, be opposed to",
    "verb worry": """worry, worry about, be worried about, be anxious about, be nervous about,
        be stressed about""",
    "verb enjoy oneself": "relax, unwind, chill",
    "verb raise a child": "bring up, take care of a child",
    "verb adopt a pet": "adopt a, rescue a",
    "verb sponsor": "sponsor, fund, finance, pay for the",
    "verb contribute": "contribute to, contribute",
    "verb maintain": "maintain, keep up",
    "verb own a company": "co-own",
    "verb design": "design, draft",
    "verb record": "record, log down, write down, note down, jot down",
    "verb compare": "compare",
    "verb choose a side": "side with",
    "verb practise law": "practise law, practice law",
    "verb present": "give a talk, give a presentation, hold a talk",
    "verb complain": "complain, grumble",
    "verb forget": "forget, forgot, forgotten",
    "verb lose": "misplace",
    "verb find": "find, found out, locate, discover that",
    "verb understand": "understand, understood, get it, grasp",
    "not + verb understand": "misunderstand",
    "verb prefer": """lean towards, would sooner, would prefer, be more comfortable with,
        like better, like more""",
    "verb accept": "accept, say yes to, take up the offer of, agree to take",
    "not + verb accept": "reject, turn down, decline, say no to",
    "verb work + word remote": """work remotely, work from home, wfh, telecommute, work from my
        home, work out of my home, work at home""",
    "verb approve": """give the green light to, green-light, give the go-ahead for, give the
        go-ahead to""",
    "verb renovate": "renovate, do up, refurbish, remodel",
    "verb replace": "be a replacement for, stand in for, substitute for, fill in for, cover for",
    "verb vaccinate": "vaccinate, get a shot, get a jab",
    "verb marry": "propose to",
    "verb install": "install, set up on, put on my",
    "verb print": "print, print out",
    "verb crash": "collide, have an accident",
    "verb delegate": "delegate, hand off",
    "verb refactor": "refactor, restructure, clean up the code",
}
